/** A word of a text without the punctuation around it and without a possessive 's. */
export type WordToken = {
  text: string
  lower: string
  from: number
  to: number
  capital: boolean
  /**
   * Whether it is the first word of the text, or follows a full stop, a question mark or an
   * exclamation mark.
   */
  initial: boolean
  /** Whether punctuation or a possessive follows it. */
  closed: boolean
  /** Whether this punctuation is a comma. */
  comma: boolean
}

const emoji =
  '\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\p{Regional_Indicator}|\\u200d|\\ufe0f'
const glue = `[—/]|${emoji}`
const onlyEmoji = new RegExp(`^(?:${emoji})+$`, 'u')

const shape = /^([("'“‘[¿¡-]*)(.*?)((?:['’]s?)?[).,;:?!"'”’\]…-]*)$/u
const abbreviation = /^(?:dr|mr|mrs|ms|st|prof|[a-z])$/i

/**
 * Returns whether a text has neither capitals nor punctuation, as some models print it: capitals
 * then mean nothing.
 */
export function isUncased(text: string): boolean {
  return !/\p{Lu}|[.,?!]/u.test(text.replace(/\bI\b/g, ''))
}

/**
 * Longer words, which no language has, are read in parts: patterns take quadratic time for them.
 */
const MAX_WORD_CHARS = 500
const parts = new RegExp(
  // Emoji, like dashes and slashes, may stand next to a word without being part of it.
  `(?:(?!${glue})\\S){1,${MAX_WORD_CHARS}}|(?:${glue})+`,
  'gu',
)

/** Returns the words of a text. */
export function tokenizeWords(text: string): WordToken[] {
  const tokens: WordToken[] = []
  let initial = true
  for (const { 0: word, index } of text.matchAll(parts)) {
    if (isInside(text, index, word)) continue
    const [, open = '', core = '', tail = ''] = shape.exec(word) ?? []
    if (core === '') {
      initial ||= /[.?!…]/.test(word)
      const last = tokens.at(-1)
      if (last) last.closed = true
      continue
    }
    const short = abbreviation.test(core)
    const closed = tail !== '' && !(tail === '.' && short)
    const from = index + open.length
    const capital = /^\p{Ll}?\p{Lu}/u.test(core)
    const comma = tail.startsWith(',')
    const common = { text: core, lower: core.toLowerCase().replace(/’/g, "'") }
    tokens.push({ ...common, from, to: from + core.length, capital, initial, closed, comma })
    initial = /[.?!…]/.test(tail) && !(tail === '.' && short)
  }
  return tokens
}

/**
 * Returns whether characters are inside a word: they join two words without a space, or are emoji.
 */
function isInside(text: string, index: number, signs: string): boolean {
  if (onlyEmoji.test(signs)) return true
  const around = `${text[index - 1] ?? ' '}${text[index + signs.length] ?? ' '}`
  return /^[—/]+$/.test(signs) && !/\s/.test(around)
}
