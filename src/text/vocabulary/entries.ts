import { foldCase } from '../word-parts.ts'
import { isVowel, MIN_SKIP, PHONES, phoneDistance } from './phone-distance.ts'
import { hasSounds, phonesOf } from './phones.ts'

/** One entry of a vocabulary (contract 2.3.1): how it is written, how else it is said, how loosely it is matched. */
export type CustomVocabularyEntry = {
  value: string
  /** 0 to 1; the config's default when absent. */
  intensity?: number
  pronunciations?: readonly string[]
  /** Language in which the entry is said; that of the transcription when absent. */
  language?: string
}

/** What the vocabulary add-on is asked for (contract 2.3.1). */
export type CustomVocabularyConfig = {
  vocabulary: readonly (string | CustomVocabularyEntry)[]
  default_intensity?: number
}

/** One way to say an entry. */
export type Pattern = {
  value: string
  phones: readonly number[]
  /** Greatest distance by phone at which it is still heard, before the guards. */
  threshold: number
  /** The most words it may have been heard as. */
  maxWords: number
}

/** A vocabulary prepared for one language of speech. */
export type Index = {
  /** Values by the letters of what is said, in lower case without blanks. */
  byLetters: ReadonlyMap<string, string>
  /** Patterns by the phone that a window begins with, shortest first. */
  byFirstPhone: ReadonlyMap<number, readonly Pattern[]>
  maxWords: number
}

/** A phrase of more words is not looked for: nobody says it in one breath. */
const MAX_WORDS = 8
/** A phrase may have been heard as so many words more than it has. */
const EXTRA_WORDS = 2
/** How far the first and the last phone may be from those of the entry; vowels are less sure at the start. */
const FIRST_DISTANCE = 0.3
const FIRST_DISTANCE_VOWELS = 0.55
const LAST_DISTANCE = 0.6
/** Sounds of other languages are compared by coarse rules, so they must be closer. */
const FOREIGN_FACTOR = 0.7

/** Prepares a vocabulary for speech in `language`; of equal spellings the first entry counts. */
export function indexVocabulary(config: CustomVocabularyConfig, language: string): Index {
  const byLetters = new Map<string, string>()
  const byFirstPhone = new Map<number, Pattern[]>()
  let maxWords = 1
  for (const entry of config.vocabulary) {
    const {
      value,
      pronunciations = [],
      ...own
    } = typeof entry === 'string' ? { value: entry } : entry
    const written = value.trim()
    if (lettersOf(written) === '') continue
    const intensity = own.intensity ?? config.default_intensity ?? 0.5
    const spoken = own.language ?? language
    for (const text of [written, ...pronunciations]) {
      const letters = lettersOf(text)
      const words = text.trim().split(/\s+/u).length
      if (letters === '' || words > MAX_WORDS) continue
      if (!hasSigns(text) && !byLetters.has(letters)) byLetters.set(letters, written)
      maxWords = Math.max(maxWords, words + EXTRA_WORDS)
      const pattern = patternOf(text, { value: written, words, intensity, spoken, language })
      if (pattern) addPattern(byFirstPhone, pattern)
    }
  }
  for (const list of byFirstPhone.values()) list.sort((a, b) => a.phones.length - b.phones.length)
  return { byLetters, byFirstPhone, maxWords }
}

/** The letters and digits of a text in lower case: what is left of it when blanks and marks are forgotten. */
export function lettersOf(text: string): string {
  return foldCase(text).replace(/[^\p{L}\p{M}\p{N}]/gu, '')
}

/** Letters do not tell `C++` from `C`, nor `.NET` from a net. */
function hasSigns(text: string): boolean {
  return /[^\p{L}\p{M}\p{N}\s.,'’-]|^\.|[.,]$/u.test(text.trim())
}

type Saying = {
  value: string
  words: number
  intensity: number
  /** Language of the entry and of the speech. */
  spoken: string
  language: string
}

function patternOf(text: string, saying: Saying): Pattern | undefined {
  const { value, words, intensity, spoken, language } = saying
  if (!hasSounds(spoken) || !hasSounds(language)) return undefined
  const phones = phonesOf(text, spoken)
  // Two sounds are in every second word.
  if (phones.length < 3) return undefined
  const short = phones.length <= 4 ? 0.5 : phones.length <= 6 ? 0.8 : 1
  const foreign = spoken === 'en' && language === 'en' ? 1 : FOREIGN_FACTOR
  const threshold = (0.1 + 0.3 * intensity) * short * foreign
  return { value, phones, threshold, maxWords: words + EXTRA_WORDS }
}

/** A pattern is filed under every phone that is near its first. */
function addPattern(byFirstPhone: Map<number, Pattern[]>, pattern: Pattern): void {
  const first = pattern.phones[0]!
  for (let phone = 0; phone < PHONES; phone++) {
    const reach = isVowel(phone) && isVowel(first) ? FIRST_DISTANCE_VOWELS : FIRST_DISTANCE
    if (phoneDistance(phone, first) > reach) continue
    const list = byFirstPhone.get(phone) ?? []
    list.push(pattern)
    byFirstPhone.set(phone, list)
  }
}

/** Whether phones may be the pattern at all, within `limit` by phone: a cheap look before the dear one. */
export function canMatch(pattern: Pattern, phones: readonly number[], limit: number): boolean {
  const [own, length] = [pattern.phones.length, phones.length]
  return (
    MIN_SKIP * Math.abs(length - own) <= limit * Math.max(length, own) &&
    phoneDistance(phones[length - 1]!, pattern.phones[own - 1]!) <= LAST_DISTANCE
  )
}
