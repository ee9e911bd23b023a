import { endPhonesKey, type VocabularyIndex, type VocabularyPattern } from './entries.ts'
import {
  editDistance,
  MIN_GAP_COST,
  minCosts,
  PHONE_COUNT,
  phoneDistance,
} from './phone-distance.ts'

/** The greatest distance between the last recognized phone and the last phone of an entry. */
const MAX_LAST_PHONE_DISTANCE = 0.6

/** For each last phone in the speech, the phones that an entry may end with. */
const ALLOWED_LAST_PHONES = Array.from({ length: PHONE_COUNT }, (_, recognized) => {
  return Array.from({ length: PHONE_COUNT }, (_, last) => last).filter((last) => {
    return phoneDistance(recognized, last) <= MAX_LAST_PHONE_DISTANCE
  })
})

/** Sums of the same costs, added in different orders, differ by less than this. */
const ROUNDING_ERROR = 1e-9

/** The phones of `words` consecutive words; `factor` scales the thresholds of all patterns. */
export type RecognizedPhones = { phones: readonly number[]; words: number; factor: number }

/** The pattern of an entry, and its distance per phone from the recognized phones. */
export type ClosestEntry = { pattern: VocabularyPattern; score: number }

/**
 * Returns the pattern closest to the recognized phones, if it is within its threshold. Of equally
 * close patterns, the shortest wins, then the earliest in the vocabulary. Most patterns are never
 * compared, because their first phone, last phone or length differs too much.
 */
export function findClosestEntry(
  index: VocabularyIndex,
  recognized: RecognizedPhones,
): ClosestEntry | undefined {
  const { phones, words, factor } = recognized
  const [first, last] = [phones[0]!, phones.at(-1)!]
  const query = { phones, words, factor, min: minCosts(phones) }
  const { shortest, longest } = patternLengthsWithin(phones.length, index.threshold * factor)
  let best: ClosestEntry | undefined
  for (const end of ALLOWED_LAST_PHONES[last]!) {
    const byLength = index.byEnds.get(endPhonesKey(first, end)) ?? []
    const to = Math.min(longest, byLength.length - 1)
    for (let length = shortest; length <= to; length++) {
      for (const pattern of byLength[length] ?? []) best = closerEntry(best, pattern, query)
    }
  }
  return best
}

/**
 * Returns the numbers of phones that a pattern within the distance `limit` per phone of `length`
 * recognized phones can have: each extra or missing phone has a minimum cost.
 */
function patternLengthsWithin(
  length: number,
  limit: number,
): { shortest: number; longest: number } {
  const minRatio = Math.max(0, 1 - limit / MIN_GAP_COST)
  const shortest = Math.max(1, Math.ceil(length * minRatio - ROUNDING_ERROR))
  return { shortest, longest: Math.floor(length / minRatio + ROUNDING_ERROR) }
}

/** Returns `pattern` if it is closer to the recognized phones than `best`, and `best` otherwise. */
function closerEntry(
  best: ClosestEntry | undefined,
  pattern: VocabularyPattern,
  { phones, words, factor, min }: RecognizedPhones & { min: Float64Array },
): ClosestEntry | undefined {
  if (words > pattern.maxWords) return best
  const threshold = pattern.threshold * factor
  const limit = best ? Math.min(best.score, threshold) : threshold
  const longerLength = Math.max(phones.length, pattern.phones.length)
  if (MIN_GAP_COST * Math.abs(phones.length - pattern.phones.length) > limit * longerLength)
    return best
  const max = Math.min(threshold * longerLength, limit * longerLength + ROUNDING_ERROR)
  const score = editDistance(pattern.phones, phones, max, min) / longerLength
  if (score > limit || (best && score === best.score && !isBefore(pattern, best.pattern)))
    return best
  return { pattern, score }
}

function isBefore(pattern: VocabularyPattern, otherPattern: VocabularyPattern): boolean {
  return (
    (pattern.phones.length - otherPattern.phones.length || pattern.order - otherPattern.order) < 0
  )
}
