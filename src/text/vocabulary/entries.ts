import { MAX_REPLACEMENT } from '../words/growth-budget.ts'
import { foldCase } from '../words/word-parts.ts'
import { isVowel, PHONES, phoneDistance } from './phone-distance.ts'
import { hasSounds, phonesOf } from './phones.ts'

/**
 * One entry of a vocabulary: its spelling, its other pronunciations, and how
 * loosely it matches.
 */
export type CustomVocabularyEntry = {
  value: string
  /** 0 to 1; the config's default when absent. */
  intensity?: number
  pronunciations?: readonly string[]
  /** Language in which the entry is pronounced; that of the transcription when absent. */
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
  /** The most words as which it may have been recognized. */
  maxWords: number
  /** Its place in the vocabulary. */
  order: number
}

/** A vocabulary prepared for one language of speech. */
export type Index = {
  /** Values by the letters of the spoken form, in lower case without spaces. */
  byLetters: ReadonlyMap<string, string>
  /**
   * Patterns by the first recognized phone and their own last one (`endPhonesKey`), then by their
   * number of phones.
   */
  byEnds: ReadonlyMap<number, readonly (readonly VocabularyPattern[] | undefined)[]>
  /** The greatest threshold of all patterns. */
  threshold: number
  maxWords: number
}

/** A phrase of more words is not searched for: speakers pause within it. */
const MAX_WORDS = 8
/** By how many words the recognized text of a phrase may exceed the phrase. */
const EXTRA_WORDS = 2
/**
 * The greatest distance of the first phone from that of the entry. Vowels are less reliable there.
 */
const FIRST_DISTANCE = 0.3
const FIRST_DISTANCE_VOWELS = 0.55
/** Phones of other languages come from coarse rules, so they must be closer. */
const FOREIGN_FACTOR = 0.7

/** Prepares a vocabulary for speech in `language`. Of equal spellings the first entry counts. */
export function indexVocabulary(config: CustomVocabularyConfig, language: string): Index {
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
    const written = value.trim()
    if (isTooLong(written) || foldedLetters(written) === '') continue
    const intensity = options.intensity ?? config.default_intensity ?? 0.5
    const spoken = options.language ?? language
    for (const text of [written, ...pronunciations]) {
      if (isTooLong(text)) continue
      const letters = foldedLetters(text)
      const words = text.trim().split(/\s+/u).length
      if (letters === '' || words > MAX_WORDS) continue
      if (!hasSigns(text) && !byLetters.has(letters)) byLetters.set(letters, written)
      maxWords = Math.max(maxWords, words + EXTRA_WORDS)
      const saying = { value: written, words, intensity, spoken, language, order: order++ }
      const pattern = patternOf(text, saying)
      if (!pattern) continue
      threshold = Math.max(threshold, pattern.threshold)
      addPattern(byEnds, pattern)
    }
  }
  return { byLetters, byEnds, threshold, maxWords }
}

/** Returns whether a pronunciation is too long to read: no one pronounces it. */
function isTooLong(text: string): boolean {
  return text.length > MAX_REPLACEMENT
}

/** Counts the entries with such a text. */
export function countTooLong({ vocabulary }: CustomVocabularyConfig): number {
  return vocabulary.filter((entry) => {
    if (typeof entry === 'string') return isTooLong(entry)
    return [entry.value, ...(entry.pronunciations ?? [])].some(isTooLong)
  }).length
}

/** Returns the letters, marks and digits of a text, with folded case. */
export function foldedLetters(text: string): string {
  return foldCase(text).replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/**
 * Returns whether a text has signs that matter: letters alone cannot distinguish `C++` from `C`, or
 * `.NET` from a net.
 */
function hasSigns(text: string): boolean {
  return /[^\p{L}\p{M}\p{N}\s.,'’-]|^\.|[.,]$/u.test(text.trim())
}

type PronunciationVariant = {
  value: string
  words: number
  intensity: number
  /** Language of the entry and of the speech. */
  spoken: string
  language: string
  order: number
}

function patternOf(text: string, saying: PronunciationVariant): VocabularyPattern | undefined {
  const { value, words, intensity, spoken, language, order } = saying
  if (!hasSounds(spoken) || !hasSounds(language)) return undefined
  const phones = phonesOf(text, spoken)
  // Two phones would match in every second word.
  if (phones.length < 3) return undefined
  const short = phones.length <= 4 ? 0.5 : phones.length <= 6 ? 0.8 : 1
  const foreign = spoken === 'en' && language === 'en' ? 1 : FOREIGN_FACTOR
  const threshold = (0.1 + 0.3 * intensity) * short * foreign
  return {
    value,
    phones,
    threshold,
    maxWords: words + EXTRA_WORDS,
    order,
  }
}

/** Files a pattern under every phone that is close to its first. */
function addPattern(byEnds: Map<number, VocabularyPattern[][]>, pattern: VocabularyPattern): void {
  const first = pattern.phones[0]!
  const last = pattern.phones.at(-1)!
  const { length } = pattern.phones
  for (let phone = 0; phone < PHONES; phone++) {
    const reach = isVowel(phone) && isVowel(first) ? FIRST_DISTANCE_VOWELS : FIRST_DISTANCE
    if (phoneDistance(phone, first) > reach) continue
    const byLength = byEnds.get(endPhonesKey(phone, last)) ?? []
    byEnds.set(endPhonesKey(phone, last), byLength)
    byLength[length] ??= []
    byLength[length].push(pattern)
  }
}

/** Returns the key of `byEnds`. */
export function endPhonesKey(first: number, last: number): number {
  return first * PHONES + last
}
