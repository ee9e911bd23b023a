import { MAX_REPLACEMENT } from '../words/growth-budget.ts'
import { foldCase } from '../words/word-parts.ts'
import { isVowel, PHONE_COUNT, phoneDistance } from './phone-distance.ts'
import { phonesOf, supportsPhones } from './phones.ts'

/**
 * One entry of a vocabulary: its spelling, its other pronunciations, and how loosely it matches.
 */
export type CustomVocabularyEntry = {
  value: string
  /** From 0 to 1; the higher, the looser. By default, `default_intensity`. */
  intensity?: number
  pronunciations?: readonly string[]
  /** The language in which the entry is pronounced; by default, that of the utterance. */
  language?: string
}

/** The configuration of the vocabulary add-on. */
export type CustomVocabularyConfig = {
  vocabulary: readonly (string | CustomVocabularyEntry)[]
  default_intensity?: number
}

/** One pronunciation of an entry. */
export type VocabularyPattern = {
  value: string
  phones: readonly number[]
  /** The greatest distance per phone at which it still matches, before the acceptance factor. */
  threshold: number
  /** The greatest number of words that can be recognized for it. */
  maxWords: number
  /** The position of the pronunciation in the vocabulary. */
  order: number
}

/** A vocabulary prepared for one language of speech. */
export type VocabularyIndex = {
  /** Values by the folded letters of their spelling or pronunciation, without spaces. */
  byLetters: ReadonlyMap<string, string>
  /**
   * Patterns by a first phone that recognition may yield for theirs and by their own last phone
   * (`endPhonesKey`), then by their number of phones.
   */
  byEnds: ReadonlyMap<number, readonly (readonly VocabularyPattern[] | undefined)[]>
  /** The greatest threshold of all patterns. */
  threshold: number
  maxWords: number
}

/** The index ignores phrases of more words, because speakers pause within them. */
const MAX_WORDS = 8
/** By how many words the recognized text of a phrase may exceed the phrase. */
const EXTRA_WORDS = 2
/**
 * The greatest distance between the first recognized phone and the first phone of an entry. Vowels
 * are less reliable there.
 */
const MAX_FIRST_PHONE_DISTANCE = 0.3
const MAX_FIRST_VOWEL_DISTANCE = 0.55
/** Phones of other languages come from coarse rules, so they must be closer. */
const FOREIGN_FACTOR = 0.7

/**
 * Prepares a vocabulary for speech in `language`. The first of several entries with the same
 * letters counts.
 */
export function indexVocabulary(config: CustomVocabularyConfig, language: string): VocabularyIndex {
  const byLetters = new Map<string, string>()
  const byEnds = new Map<number, VocabularyPattern[][]>()
  let threshold = 0
  let order = 0
  let maxWords = 1
  for (const entry of config.vocabulary) {
    const {
      value,
      pronunciations = [],
      ...options
    } = typeof entry === 'string' ? { value: entry } : entry
    const spelling = value.trim()
    if (isTooLong(spelling) || foldedLetters(spelling) === '') continue
    const intensity = options.intensity ?? config.default_intensity ?? 0.5
    const entryLanguage = options.language ?? language
    for (const text of [spelling, ...pronunciations]) {
      if (isTooLong(text)) continue
      const letters = foldedLetters(text)
      const words = text.trim().split(/\s+/u).length
      if (letters === '' || words > MAX_WORDS) continue
      if (!hasSymbols(text) && !byLetters.has(letters)) byLetters.set(letters, spelling)
      maxWords = Math.max(maxWords, words + EXTRA_WORDS)
      const variant = { value: spelling, words, intensity, entryLanguage, language, order: order++ }
      const pattern = patternOf(text, variant)
      if (!pattern) continue
      threshold = Math.max(threshold, pattern.threshold)
      addPattern(byEnds, pattern)
    }
  }
  return { byLetters, byEnds, threshold, maxWords }
}

/** Returns whether a spelling or a pronunciation is too long for a name or phrase. */
function isTooLong(text: string): boolean {
  return text.length > MAX_REPLACEMENT
}

/** Counts the entries of which a spelling or a pronunciation is too long. */
export function countTooLong({ vocabulary }: CustomVocabularyConfig): number {
  return vocabulary.filter((entry) => {
    if (typeof entry === 'string') return isTooLong(entry)
    return [entry.value, ...(entry.pronunciations ?? [])].some(isTooLong)
  }).length
}

/** Returns the letters, combining marks and digits of a text, with folded case. */
export function foldedLetters(text: string): string {
  return foldCase(text).replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/**
 * Returns whether a text has symbols that matter: letters alone cannot distinguish `C++` from `C`,
 * or `.NET` from a net.
 */
function hasSymbols(text: string): boolean {
  return /[^\p{L}\p{M}\p{N}\s.,'’-]|^\.|[.,]$/u.test(text.trim())
}

type PronunciationVariant = {
  value: string
  words: number
  intensity: number
  /** The language in which the entry is pronounced. */
  entryLanguage: string
  /** The language of the speech. */
  language: string
  order: number
}

function patternOf(text: string, variant: PronunciationVariant): VocabularyPattern | undefined {
  const { value, words, intensity, entryLanguage, language, order } = variant
  if (!supportsPhones(entryLanguage) || !supportsPhones(language)) return undefined
  const phones = phonesOf(text, entryLanguage)
  // Two phones would match parts of too many words.
  if (phones.length < 3) return undefined
  const lengthFactor = phones.length <= 4 ? 0.5 : phones.length <= 6 ? 0.8 : 1
  const languageFactor = entryLanguage === 'en' && language === 'en' ? 1 : FOREIGN_FACTOR
  const threshold = (0.1 + 0.3 * intensity) * lengthFactor * languageFactor
  return {
    value,
    phones,
    threshold,
    maxWords: words + EXTRA_WORDS,
    order,
  }
}

/** Adds a pattern under every first phone that is close to its own. */
function addPattern(byEnds: Map<number, VocabularyPattern[][]>, pattern: VocabularyPattern): void {
  const first = pattern.phones[0]!
  const last = pattern.phones.at(-1)!
  const { length } = pattern.phones
  for (let phone = 0; phone < PHONE_COUNT; phone++) {
    const maxDistance =
      isVowel(phone) && isVowel(first) ? MAX_FIRST_VOWEL_DISTANCE : MAX_FIRST_PHONE_DISTANCE
    if (phoneDistance(phone, first) > maxDistance) continue
    const byLength = byEnds.get(endPhonesKey(phone, last)) ?? []
    byEnds.set(endPhonesKey(phone, last), byLength)
    byLength[length] ??= []
    byLength[length].push(pattern)
  }
}

/** Returns the key in `byEnds` of a first and a last phone. */
export function endPhonesKey(first: number, last: number): number {
  return first * PHONE_COUNT + last
}
