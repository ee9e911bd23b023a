import { separatorOf } from '../../../transcript/separators.ts'
import { localeOf } from '../locale.ts'
import { trailingFrom } from '../trailing.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf, followsHour } from './abbreviations.ts'

/**
 * Words that begin a sentence far more often than a name: after initials (U.S., J.) they show that
 * the sentence before them has ended.
 */
const STARTERS: Record<string, string> = {
  en:
    'he she it we they you i the a an this that these those my your his her our their its there here ' +
    'what who when where why how which but and so or then now if as in on at for with from after before ' +
    'because while since some many most all no yes not nobody everyone everybody someone people do did ' +
    "is are was were have has can could will would should let's please also however maybe well okay oh",
  de:
    'er sie es ich wir ihr du man das die der dies diese dieser und aber oder doch dann danach da hier ' +
    'wer was wann wo warum wie wenn weil ja nein nicht kein keine ein eine mein sein ist sind war',
  fr: "il elle on je nous vous ils elles le la les l'on un une ce cette c'est et mais ou donc alors puis",
  es: 'él ella yo nosotros ustedes ellos el la los las un una esto eso y pero o entonces luego no sí',
}

/** Languages that write an ordinal with a full stop: 3. Oktober. */
const STOPPED_ORDINALS = new Set('de da nb nn no cs sk fi hu pl hr sr sl et lv is tr'.split(' '))

const PRONOUN = /^(?:he|she|they|we|i|you|it)$/i
const SPEECH = /^(?:said|says|asked|asks|replied|answered|shouted|cried|whispered|told|added)$/i

/** Marks that close a quotation or brackets. */
const CLOSING = /["'”’»)\]]/

function withoutClosing(text: string): string {
  return text.slice(0, trailingFrom(text, CLOSING))
}

/**
 * Returns whether a sentence ends after each of the words of `language`; after the last one it
 * does. Follows the rules of Unicode (UAX 29, by `Intl.Segmenter`), and corrects them where they
 * break after abbreviations, inside decimals and between a quotation and its speaker, or miss a
 * sentence that begins with a number or without a capital.
 */
export function sentenceEnds(texts: readonly string[], language: string): boolean[] {
  const cased = texts.some((text) => /\p{Lu}/u.test(text))
  const breaks = unicodeBreaks(texts, language)
  return texts.map((text, i) => {
    const [next, afterNext] = [texts[i + 1], texts[i + 2]]
    if (next === undefined) return true
    if (!breaks.has(i) && !beginsUnseen(text, next, cased)) return false
    return !goesOnAfterMark(text, { next, afterNext, language, cased })
  })
}

/**
 * Returns the indexes of the words after which Unicode sees a sentence end; ends inside a word do
 * not count.
 */
function unicodeBreaks(texts: readonly string[], language: string): Set<number> {
  const separator = separatorOf(language)
  const lastEndingAt = new Map<number, number>()
  let offset = 0
  for (const [i, text] of texts.entries()) {
    offset += text.length + separator.length
    lastEndingAt.set(offset, i)
  }
  const segmenter = new Intl.Segmenter(localeOf(language), { granularity: 'sentence' })
  const breaks = new Set<number>()
  for (const { index } of segmenter.segment(texts.join(separator))) {
    const word = lastEndingAt.get(index)
    if (word !== undefined) breaks.add(word)
  }
  return breaks
}

/**
 * Returns whether a sentence begins where the rules of Unicode miss it: before a number, before
 * iPhone, at …, and in text without capitals.
 */
function beginsUnseen(text: string, next: string, cased: boolean): boolean {
  const bare = withoutClosing(text)
  const first = wordPartsOf(next).core
  if (/…$/.test(bare)) return /^\p{Lu}/u.test(first)
  if (!/[^.\s]\.$/u.test(bare)) return false
  return !cased || /^(?:\p{N}|\p{Ll}\p{Lu})/u.test(first)
}

type Context = { next: string; afterNext: string | undefined; language: string; cased: boolean }

function goesOnAfterMark(text: string, context: Context): boolean {
  const { next, afterNext, language, cased } = context
  const first = wordPartsOf(next).core
  const bare = withoutClosing(text)
  const small = cased && /^\p{Ll}(?!\p{Lu})/u.test(first)
  // Yahoo! is a name and "Why?" a quotation. An unquoted question ends whatever case the next word
  // has.
  if (small && (bare !== text || !/[?？؟]$/u.test(bare))) return true
  if (bare !== text && PRONOUN.test(first) && SPEECH.test(wordPartsOf(afterNext ?? '').core))
    return true
  // A masked word is not an initial: "C***."
  if (!/[^.*]\.$/.test(bare)) return false
  const { core, possessive } = wordPartsOf(bare)
  return stopGoesOn(core + possessive, first, language)
}

/** Returns whether a sentence continues after a full stop, by the words before and after it. */
function stopGoesOn(core: string, first: string, language: string): boolean {
  const starts = isStarter(first, language)
  if (/^\d{1,3}$/.test(core) && /^\d/.test(first)) return true
  if (/^\d{1,2}$/.test(core) && STOPPED_ORDINALS.has(language)) return !starts
  const kind = abbreviationOf(core, language)
  if (kind === undefined) return false
  if (kind === 'numbered') return /^\d/.test(first)
  if (kind === 'hour') return followsHour(first)
  if (kind === 'closing') return /^\p{Ll}/u.test(first) && !starts
  return kind === 'open' || !starts
}

const starters = new Map(
  Object.entries(STARTERS).map(([language, words]) => [language, new Set(words.split(' '))]),
)

function isStarter(core: string, language: string): boolean {
  const folded = core.toLowerCase()
  const starterPattern = starters.get(language)
  return (
    starterPattern !== undefined &&
    (starterPattern.has(folded) || starterPattern.has(folded.replace(/['’].*/, '')))
  )
}
