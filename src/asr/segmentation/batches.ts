import type { Segment } from '../engines/recognizer.ts'

/**
 * Segments decoded together: eight are hardly faster than four, and hold a worker twice as long.
 */
export const BATCH_SEGMENTS = 4
/**
 * The number of consecutive segments that are sorted by length and cut into batches: enough to find
 * equal lengths, few enough that progress stays steady.
 */
const SORTED_SEGMENTS = 48

/**
 * Groups segments of similar length, so that little of a batch is padding. The plan depends on the
 * segments alone, so results are equal for any number of workers or restarts.
 */
export function planBatches(segments: readonly Segment[]): Segment[][] {
  const batches: Segment[][] = []
  for (let from = 0; from < segments.length; from += SORTED_SEGMENTS) {
    const sorted = segments
      .slice(from, from + SORTED_SEGMENTS)
      .sort((a, b) => segmentLength(b) - segmentLength(a))
    for (let i = 0; i < sorted.length; i += BATCH_SEGMENTS) {
      batches.push(sorted.slice(i, i + BATCH_SEGMENTS).sort((a, b) => a.start - b.start))
    }
  }
  return batches
}

function segmentLength({ start, end }: Segment): number {
  return end - start
}
