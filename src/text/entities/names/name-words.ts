import { tagsOf, wordList } from '../../words/word-lists.ts'
import type { WordToken } from '../matching/word-tokens.ts'
import { listSpelling } from './accents.ts'

let given: Set<string> | undefined
let givenNames: Set<string> | undefined
let family: Set<string> | undefined
let wordLike: Set<string> | undefined
let common: Set<string> | undefined

const setOf = (...names: string[]) =>
  new Set(names.flatMap((name) => wordList(name).map((entry) => entry.toLowerCase())))

/** Returns whether a lower-case word is a given name. */
export function isAnyGivenName(word: string): boolean {
  given ??= setOf('names/given-names-world')
  if (word.includes('-')) return word.split('-').every(isAnyGivenName)
  return given.has(listSpelling(word)) || isEnglishGivenName(word)
}

/** Returns whether a lower-case word is a given name that is common among English speakers. */
export function isEnglishGivenName(word: string): boolean {
  givenNames ??= setOf('names/given-names')
  return givenNames.has(word) || hasTag(word, 'MaleName', 'FemaleName', 'FirstName')
}

/** Returns whether a lower-case word is a family name. */
export function isFamily(word: string): boolean {
  family ??= setOf('names/family-names', 'names/family-names-world')
  if (word.includes('-')) return word.split('-').every(isFamily)
  return family.has(listSpelling(word)) || family.has(word) || hasTag(word, 'LastName')
}

/** Returns whether a lower-case word is both a name and an everyday word or a place. */
export function isWordLike(word: string): boolean {
  wordLike ??= setOf('names/name-like-words')
  return wordLike.has(word)
}

/** Returns whether a lower-case word is a common one of English. */
export function isOrdinaryWord(word: string): boolean {
  common ??= setOf('common-english-words')
  return common.has(word)
}

function hasTag(word: string, ...tags: string[]): boolean {
  return tagsOf(word).some((tag) => tags.includes(tag))
}

const personTags = new Set([
  'MaleName',
  'FemaleName',
  'FirstName',
  'LastName',
  'Person',
  'ProperNoun',
])
/** Words that are not names even with a capital: they begin sentences, or name days and streets. */
export const neverNames = new Set(
  "i i'm i'll i've i'd the a an and or but so yes no yeah okay ok well oh hi hello hey thanks thank please sorry sure right this that these those it it's there here what who when where why how if then my your his her our their we you he she they is are was were do does did can could would should not now just let's also maybe perhaps good great um umm uh uhm er erm hm hmm mm mhm mister emeritus emerita street avenue road lane drive court boulevard university hospital bank inc corporation company monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december god internet english bluetooth wifi wi-fi billing sales accounts support returns reception operator".split(
    ' ',
  ),
)

/**
 * Returns whether a lower-case word is so rare that it is considered a name even without a capital.
 */
export function isRareWord(word: string): boolean {
  if (isWordLike(word) || isMonthName(word) || neverNames.has(word)) return false
  const tags = tagsOf(word)
  if (!tags.every((tag) => personTags.has(tag))) return false
  // Lists of common words contain "smith", too.
  return tags.length > 0 || !isOrdinaryWord(word)
}

/** Returns whether a word that no list contains can be part of a name. */
export function isUnknown({ lower, capital, text }: WordToken): boolean {
  if (
    !capital ||
    neverNames.has(lower) ||
    (lower.includes("'") && /'(?:m|ll|ve|re|d|s|t)$/.test(lower))
  )
    return false
  if (/\d/.test(text) || (/^\p{Lu}{2,}$/u.test(text) && text.length < 5)) return false
  return tagsOf(lower).every((tag) => personTags.has(tag))
}

/**
 * Returns whether a word is an abbreviation for a kind of number, which is not a name: "my IBAN",
 * "the VIN".
 */
export function isAcronym({ text }: WordToken): boolean {
  return /^(?:IBAN|VIN|PIN|SSN|DOB|CVV|CVC|ABA|MRN|NHS|EIN|VAT|BIC|SWIFT)$/.test(text)
}

const isInitial = ({ text, lower }: WordToken) => /^\p{Lu}$/u.test(text) && lower !== 'i'
/** Lower-case particles inside family names. */
export const particles = new Set([
  'van',
  'von',
  'de',
  'der',
  'den',
  'la',
  'del',
  'di',
  'da',
  'bin',
  'al',
  'el',
  'dos',
  ...['ter', 'ten', 'le', 'du', 'des', 'zu', 'ben', 'ibn'],
])

/**
 * Returns whether a word can follow a given name as its family name: a known one, an unknown word,
 * or any capitalized word in a sentence.
 */
function continues(token: WordToken): boolean {
  if (namedAfter.test(token.lower) || isAcronym(token)) return false
  return token.capital && (isFamily(token.lower) || isAnyGivenName(token.lower) || isUnknown(token))
}

/**
 * Words after which a name is part of another one, such as the Paris Agreement and the Carter
 * Center.
 */
const namedAfter =
  /^(?:agreement|accords?|act|airport|awards?|bridge|cent(?:er|re)|climate|conference|cup|festival|foundation|hotel|museum|open|podcast|project|protocol|restaurant|school|show|stadium|summit|theat(?:er|re)|tower|treaty|trophy)$/

/**
 * Returns whether an everyday word has a capital inside a sentence, such as "Gates" after "Bill".
 */
function isProper({ lower, capital, initial, text }: WordToken): boolean {
  if (!capital || initial || neverNames.has(lower) || /['\d]|^\p{Lu}{2,4}$/u.test(text))
    return false
  if (namedAfter.test(lower)) return false
  return !hasTag(
    lower,
    'Place',
    'City',
    'Country',
    'Region',
    'Organization',
    'Demonym',
    'WeekDay',
    'Month',
  )
}

/**
 * Returns the index after a family name that begins with particles in lower case, as after a title:
 * "van der Berg". Returns `begin` if there is none.
 */
export function endOfParticles(tokens: readonly WordToken[], begin: number): number {
  let at = begin
  while (tokens[at] && particles.has(tokens[at]!.lower) && !tokens[at]!.closed) at++
  const family = tokens[at]
  const isFamilyName = family?.capital && !neverNames.has(family.lower) && !isAcronym(family)
  return at > begin && isFamilyName ? at + 1 : begin
}

/** Returns the index after the last word of a name that begins at `begin`. */
export function endOfName(tokens: readonly WordToken[], begin: number): number {
  let at = begin
  while (at < tokens.length && at - begin < 4) {
    const previous = tokens[at - 1]
    if (at > begin && previous?.closed) break
    const token = tokens[at]!
    const next = tokens[at + 1]
    if (
      continues(token) ||
      (at === begin + 1 && isAnyGivenName(previous!.lower) && isProper(token)) ||
      (at > begin && isInitial(token) && next && continues(next) && !token.closed)
    )
      at++
    else if (at > begin || token.capital) {
      const end = endOfParticles(tokens, at)
      if (end === at) break
      at = end
    } else break
  }
  return at
}

/**
 * Returns the index after a family name with initials before it, "M. R. Pemberton"; where a name is
 * expected (`expected`), no list need contain it. Returns `begin` if there is none.
 */
export function endOfInitials(
  tokens: readonly WordToken[],
  begin: number,
  expected: boolean,
): number {
  let at = begin
  while (at - begin < 3 && tokens[at] && isInitial(tokens[at]!) && !tokens[at]!.closed) at++
  const family = tokens[at]
  if (at === begin || !family?.capital) return begin
  if (!isFamily(family.lower) && !(expected && isUnknown(family))) return begin
  return isOrdinaryWord(family.lower) || neverNames.has(family.lower) ? begin : at + 1
}

/** Returns whether a name is also a place. */
export function isPlaceName({ lower }: WordToken): boolean {
  return (
    hasTag(lower, 'City', 'Country', 'Region', 'Place') ||
    ['austin', 'georgia', 'virginia', 'dallas', 'brooklyn', 'phoenix', 'jordan'].includes(lower)
  )
}

/** Returns whether a lower-case word is a name and a month or season. */
export function isMonthName(word: string): boolean {
  return /^(?:april|may|june|august|march|january|july|summer|autumn|winter)$/.test(word)
}
