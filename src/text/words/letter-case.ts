import { wordPartsOf } from './word-parts.ts'

const DAYS_AND_MONTHS = new Set(
  (
    'monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays ' +
    'fridays saturdays sundays january february april june july august september october november december'
  ).split(' '),
)

/**
 * Scripts whose sentences begin with a capital. Georgian has capitals, but not at the beginning of
 * sentences.
 */
const CAPITALIZING_SCRIPTS =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}]/u

/**
 * Capitalizes a word for the beginning of a sentence. A word with capitals, digits or punctuation
 * inside (iPhone, mp3, example.com, @name) is spelled that way on purpose and stays.
 */
export function capitalize(text: string, language: string): string {
  const { before, core } = wordPartsOf(text)
  const first = core.slice(0, 1)
  if (!/^[\p{Ps}\p{Pi}"'¿¡–—-]*$/u.test(before) || !CAPITALIZING_SCRIPTS.test(core)) return text
  if (!/^\p{Ll}[\p{Ll}\p{M}'’-]*$/u.test(core)) return text
  const upper = /^(?:tr|az)$/.test(language)
    ? first.toLocaleUpperCase(language)
    : first.toUpperCase()
  // The capital form of ß and a few other letters is longer than one letter.
  if (upper.length !== 1) return text
  return before + upper + text.slice(before.length + 1)
}

/** English function words and filled pauses: none of them is a name. */
const FUNCTION_WORDS = new Set(
  (
    'the a an and or but nor so because if unless although though while when where which who whose whom whether ' +
    'that this these those than as at by for from in into of off on onto out over to up upon with without ' +
    'he she it we they you my your his its our their is are was were be been has have had do does did ' +
    'what why how then there here not no yes just also um umm uh uhm er erm hmm mm mhm'
  ).split(' '),
)

/**
 * Returns whether an English word is a function word, such as an article or a preposition, or a
 * filled pause.
 */
export function isFunctionWordInText(text: string): boolean {
  return FUNCTION_WORDS.has(wordPartsOf(text).core.toLowerCase())
}

/**
 * Returns an English word as it is written inside a sentence: a function word in lower case, and
 * any other word unchanged, because it may be a name.
 */
export function lowerFunctionWord(text: string): string {
  const { before, core } = wordPartsOf(text)
  if (!/^\p{Lu}\p{Ll}*$/u.test(core) || !isFunctionWordInText(text)) return text
  return before + core[0]!.toLowerCase() + text.slice(before.length + 1)
}

const PRONOUN_I = /^i(?:['’](?:m|ve|ll|d))?$/

/** Writes the English pronoun i as I, also in i'm and i'll, but not the numeral in "(i)". */
export function capitalizePronoun(text: string): string {
  const { before, core, possessive, after } = wordPartsOf(text)
  if (!PRONOUN_I.test(core) || before.endsWith('(') || possessive !== '') return text
  return `${before}I${core.slice(1)}${after}`
}

/**
 * Writes a lower-case English word as it is spelled inside a sentence: I, days, months (may and
 * march where a date shows it), and `names`.
 */
export function capitalizeWithinSentence(
  text: string,
  { before, after, names }: { before: string; after: string; names: ReadonlyMap<string, string> },
): string {
  const parts = wordPartsOf(text)
  const { core, possessive } = parts
  if (!/^\p{Ll}[\p{Ll}'’-]*$/u.test(core)) return text
  const ending = possessive + parts.after
  if (PRONOUN_I.test(core)) return capitalizePronoun(text)
  const isInDate = /^\d/.test(after) || /^of$/i.test(before)
  const isDayOrMonth = DAYS_AND_MONTHS.has(core) || (isInDate && /^(?:may|march)$/.test(core))
  if (isDayOrMonth) return parts.before + core[0]!.toUpperCase() + core.slice(1) + ending
  return parts.before + (names.get(core) ?? core) + ending
}

/**
 * English words that are also names or abbreviations (Will, Mark, US, IT, WHO): capitals elsewhere
 * in the recording do not make them a name.
 */
const AMBIGUOUS_WORDS = new Set(
  (
    'a an the and or but if as at by for from in of off on out over to up with it its us we he she they you i me my ' +
    'am is are was were be been do does did has have had can could will would may might must shall should not no ' +
    'who what when where why how this that these those all any some so then than there here now just well ' +
    'mark bill rose grace hope faith joy art frank jack rob sue pat drew nick ray don dean chase grant miles rich ' +
    'may march june august april summer dawn drew ivy pearl ruby amber jade iris lily daisy violet olive ' +
    'god earth sun moon north south east west street road park bank house state church court college school ' +
    'mom dad mother father doctor president king queen judge general major captain'
  ).split(' '),
)

/**
 * Returns the spelling of the names of a transcript by their lower-case form: words that occur
 * inside sentences at least twice as often with a capital as without. `midSentenceWords` are the
 * words that do not begin a sentence.
 */
export function findNames(midSentenceWords: Iterable<string>): Map<string, string> {
  const counts = new Map<string, Map<string, number>>()
  for (const text of midSentenceWords) {
    const { core } = wordPartsOf(text)
    if (core.length < 2 || !/^[\p{L}\p{M}'’-]+$/u.test(core)) continue
    const folded = core.toLowerCase()
    if (AMBIGUOUS_WORDS.has(folded)) continue
    const forms = counts.get(folded) ?? new Map<string, number>()
    counts.set(folded, forms.set(core, (forms.get(core) ?? 0) + 1))
  }
  const names = new Map<string, string>()
  for (const [folded, forms] of counts) {
    const lowerCount = forms.get(folded) ?? 0
    const capitalized = [...forms].filter(([form]) => form !== folded).sort(([, a], [, b]) => b - a)
    const capitalizedCount = capitalized.reduce((sum, [, count]) => sum + count, 0)
    if (capitalizedCount >= 2 * lowerCount) names.set(folded, capitalized[0]![0])
  }
  return names
}
