import { endPhonesKey, type Index, type VocabularyPattern } from './entries.ts'
import { editDistance, MIN_SKIP, minCosts, PHONES, phoneDistance } from './phone-distance.ts'

/** The greatest distance of the last phone from that of the entry. */
const LAST_DISTANCE = 0.6

/** For each last phone in the speech, the phones that an entry may end with. */
const LASTS = Array.from({ length: PHONES }, (_, recognized) => {
  return Array.from({ length: PHONES }, (_, last) => last).filter((last) => {
    return phoneDistance(recognized, last) <= LAST_DISTANCE
  })
})

/** Sums of the same costs in another order differ by less. */
const ROUNDING = 1e-9

/** Phones recognized as so many words; patterns keep `factor` of their thresholds. */
export type RecognizedPhones = { phones: readonly number[]; words: number; factor: number }

/** The most likely entry, and its distance per phone from the recognized phones. */
export type ClosestEntry = { pattern: VocabularyPattern; score: number }

/**
 * Returns the pattern closest to the recognized phones, if it is within its threshold; of equally
 * close ones the shortest, then the earliest. Most patterns are never compared, because their
 * beginning, end or length differs.
 */
export function findClosestEntry(
  index: Index,
  recognized: RecognizedPhones,
): ClosestEntry | undefined {
  const { phones, words, factor } = recognized
  const [first, last] = [phones[0]!, phones.at(-1)!]
  const query = { phones, words, factor, min: minCosts(phones) }
  const { shortest, longest } = lengthsNear(phones.length, index.threshold * factor)
  let best: ClosestEntry | undefined
  for (const end of LASTS[last]!) {
    const byLength = index.byEnds.get(endPhonesKey(first, end)) ?? []
    const to = Math.min(longest, byLength.length - 1)
    for (let length = shortest; length <= to; length++) {
      for (const pattern of byLength[length] ?? []) best = nearer(best, pattern, query)
    }
  }
  return best
}

/**
 * Returns how many phones may be recognized as `length` phones within the distance `limit` per
 * phone: each extra or missing phone has a minimum cost.
 */
function lengthsNear(length: number, limit: number): { shortest: number; longest: number } {
  const share = Math.max(0, 1 - limit / MIN_SKIP)
  const shortest = Math.max(1, Math.ceil(length * share - ROUNDING))
  return { shortest, longest: Math.floor(length / share + ROUNDING) }
}

function nearer(
  best: ClosestEntry | undefined,
  pattern: VocabularyPattern,
  { phones, words, factor, min }: RecognizedPhones & { min: Float64Array },
): ClosestEntry | undefined {
  if (words > pattern.maxWords) return best
  const threshold = pattern.threshold * factor
  const limit = best ? Math.min(best.score, threshold) : threshold
  const longer = Math.max(phones.length, pattern.phones.length)
  if (MIN_SKIP * Math.abs(phones.length - pattern.phones.length) > limit * longer) return best
  const max = Math.min(threshold * longer, limit * longer + ROUNDING)
  const score = editDistance(pattern.phones, phones, max, min) / longer
  if (score > limit || (best && score === best.score && !isBefore(pattern, best.pattern)))
    return best
  return { pattern, score }
}

function isBefore(pattern: VocabularyPattern, otherPattern: VocabularyPattern): boolean {
  return (
    (pattern.phones.length - otherPattern.phones.length || pattern.order - otherPattern.order) < 0
  )
}
