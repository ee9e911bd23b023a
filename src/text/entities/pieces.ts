/** A word of a text without the punctuation around it and without a possessive 's. */
export type Piece = {
  text: string
  lower: string
  from: number
  to: number
  capital: boolean
  /** First word of the text or after a full stop, a question or an exclamation mark. */
  initial: boolean
  /** Punctuation, or a possessive, before the next word. */
  closed: boolean
  /** Its punctuation is a comma. */
  comma: boolean
}

const shape = /^([("'“‘[¿¡-]*)(.*?)((?:['’]s?)?[).,;:?!"'”’\]…-]*)$/u
const abbreviation = /^(?:dr|mr|mrs|ms|st|prof|[a-z])$/i

/** Whether a text has neither capitals nor punctuation, as some models print: a capital then tells nothing. */
export function isUncased(text: string): boolean {
  return !/\p{Lu}|[.,?!]/u.test(text.replace(/\bI\b/g, ''))
}

/** The words of a text. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let initial = true
  for (const { 0: word, index } of text.matchAll(/\S+/gu)) {
    const [, open = '', core = '', tail = ''] = shape.exec(word) ?? []
    if (core === '') {
      initial ||= /[.?!…]/.test(word)
      const last = pieces.at(-1)
      if (last) last.closed = true
      continue
    }
    const short = abbreviation.test(core)
    const closed = tail !== '' && !(tail === '.' && short)
    const from = index + open.length
    const capital = /^\p{Ll}?\p{Lu}/u.test(core)
    const comma = tail.startsWith(',')
    const common = { text: core, lower: core.toLowerCase().replace(/’/g, "'") }
    pieces.push({ ...common, from, to: from + core.length, capital, initial, closed, comma })
    initial = /[.?!…]/.test(tail) && !(tail === '.' && short)
  }
  return pieces
}
