import { separatorOf } from '../../../transcript/separators.ts'
import { localeOf } from '../locale.ts'
import { trailingFrom } from '../trailing.ts'
import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf, followsHour, isExclaimedName } from './abbreviations.ts'

/**
 * Words that usually begin a sentence and seldom a name: after initials (U.S., J.), they show that
 * the sentence before them has ended.
 */
const SENTENCE_STARTERS: Record<string, string> = {
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

/** Languages that write ordinals with a full stop: 3. Oktober. */
const ORDINAL_FULL_STOP_LANGUAGES = new Set(
  'de da nb nn no cs sk fi hu pl hr sr sl et lv is tr'.split(' '),
)

const PRONOUN = /^(?:he|she|they|we|i|you|it)$/i
const SPEECH_VERB =
  /^(?:said|says|asked|asks|replied|answered|shouted|cried|whispered|told|added)$/i

/** A mark that closes a quotation or brackets. */
const CLOSING_MARK = /["'”’»)\]]/

function withoutClosing(text: string): string {
  return text.slice(0, trailingFrom(text, CLOSING_MARK))
}

/**
 * Returns for each word of a text in `language` whether a sentence ends after it; after the last
 * word, one always does. Follows the rules of Unicode (UAX 29, by `Intl.Segmenter`) and corrects
 * them where they break after abbreviations, inside decimals and between a quotation and its
 * speaker, or miss a sentence that begins with a number or without a capital.
 */
export function sentenceEnds(texts: readonly string[], language: string): boolean[] {
  const hasCapitals = texts.some((text) => /\p{Lu}/u.test(text))
  const breaks = unicodeBreaks(texts, language)
  return texts.map((text, i) => {
    const [before, next, afterNext] = [texts[i - 1], texts[i + 1], texts[i + 2]]
    if (next === undefined) return true
    if (!breaks.has(i) && !isMissedBreak(text, next, hasCapitals)) return false
    return !continuesAfterMark(text, { before, next, afterNext, language, hasCapitals })
  })
}

/**
 * Returns the indexes of the words after which a sentence ends by the rules of Unicode; ends inside
 * a word do not count.
 */
function unicodeBreaks(texts: readonly string[], language: string): Set<number> {
  const separator = separatorOf(language)
  const wordByEnd = new Map<number, number>()
  let offset = 0
  for (const [i, text] of texts.entries()) {
    offset += text.length + separator.length
    wordByEnd.set(offset, i)
  }
  const segmenter = new Intl.Segmenter(localeOf(language), { granularity: 'sentence' })
  const breaks = new Set<number>()
  for (const { index } of segmenter.segment(texts.join(separator))) {
    const word = wordByEnd.get(index)
    if (word !== undefined) breaks.add(word)
  }
  return breaks
}

/**
 * Returns whether a sentence begins where the rules of Unicode miss it: before a number or a word
 * like iPhone, after "…", and in a text without capitals.
 */
function isMissedBreak(text: string, next: string, hasCapitals: boolean): boolean {
  const unquoted = withoutClosing(text)
  const first = wordPartsOf(next).core
  if (/…$/.test(unquoted)) return /^\p{Lu}/u.test(first)
  if (!/[^.\s]\.$/u.test(unquoted)) return false
  return !hasCapitals || /^(?:\p{N}|\p{Ll}\p{Lu})/u.test(first)
}

/** The words around a word with a mark; `hasCapitals` is whether the text has any capitals. */
type BreakContext = {
  before: string | undefined
  next: string
  afterNext: string | undefined
  language: string
  hasCapitals: boolean
}

/** Returns whether the sentence continues after a word with a mark that often ends one. */
function continuesAfterMark(text: string, context: BreakContext): boolean {
  const { before, next, afterNext, language, hasCapitals } = context
  const first = wordPartsOf(next).core
  const unquoted = withoutClosing(text)
  const isLowerCase = hasCapitals && /^\p{Ll}(?!\p{Lu})/u.test(first)
  // Yahoo! is a name and "Why?" a quotation. An unquoted question ends whatever case the next word
  // has.
  if (isLowerCase && (unquoted !== text || !/[?？؟]$/u.test(unquoted))) return true
  if (
    unquoted !== text &&
    PRONOUN.test(first) &&
    SPEECH_VERB.test(wordPartsOf(afterNext ?? '').core)
  )
    return true
  const { core, possessive } = wordPartsOf(unquoted)
  // At the beginning of a sentence, "Yahoo!" is a cry.
  const isWithin = before !== undefined && !/[.!?…]$/.test(withoutClosing(before))
  if (isWithin && /^[^!]*!$/.test(text) && isExclaimedName(core, language))
    return !isStarter(first, language)
  // A masked word, such as "C***.", is not an initial.
  if (!/[^.*]\.$/.test(unquoted)) return false
  return isInnerFullStop(core + possessive, first, language)
}

/** Returns whether a full stop is that of an abbreviation or a number within a sentence. */
function isInnerFullStop(core: string, first: string, language: string): boolean {
  const isStart = isStarter(first, language)
  if (/^\d{1,3}$/.test(core) && /^\d/.test(first)) return true
  if (/^\d{1,2}$/.test(core) && ORDINAL_FULL_STOP_LANGUAGES.has(language)) return !isStart
  const kind = abbreviationOf(core, language)
  if (kind === undefined) return false
  if (kind === 'numbered') return /^\d/.test(first)
  if (kind === 'hour') return followsHour(first)
  if (kind === 'list-end') return /^\p{Ll}/u.test(first) && !isStart
  return kind === 'never-final' || !isStart
}

const startersByLanguage = new Map(
  Object.entries(SENTENCE_STARTERS).map(([language, words]) => [
    language,
    new Set(words.split(' ')),
  ]),
)

function isStarter(core: string, language: string): boolean {
  const folded = core.toLowerCase()
  const languageStarters = startersByLanguage.get(language)
  return (
    languageStarters !== undefined &&
    (languageStarters.has(folded) || languageStarters.has(folded.replace(/['’].*/, '')))
  )
}
