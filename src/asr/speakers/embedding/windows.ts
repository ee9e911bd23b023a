import type { Region, WindowGrid } from './embedders/embedder.ts'

/** A region with fewer samples is too short for an embedding: 0.1 s. */
const MIN_REGION = 1600

/**
 * Splits a region into windows: from its start in steps of `hop` while they fit, and one that ends
 * with it. A region shorter than a window is one window; one below 0.1 s has none.
 */
export function slidingWindows({ start, end }: Region, { length, hop }: WindowGrid): Region[] {
  if (end - start < MIN_REGION) return []
  if (end - start <= length) return [{ start, end }]
  const windows: Region[] = []
  for (let at = start; at + length < end; at += hop) windows.push({ start: at, end: at + length })
  windows.push({ start: end - length, end })
  return windows
}

/**
 * Throws RangeError unless the regions lie within `samples` samples and the windows move forward.
 */
export function checkRegions(
  samples: number,
  { regions, grids }: { regions: readonly Region[]; grids: readonly WindowGrid[] },
): void {
  for (const { start, end } of regions) {
    const areWholeSamples = Number.isInteger(start) && Number.isInteger(end)
    if (!areWholeSamples || start < 0 || start > end || end > samples) {
      throw new RangeError(`region ${start} to ${end} does not lie in ${samples} samples`)
    }
  }
  for (const { length, hop } of grids) {
    const areWholeSamples = Number.isInteger(length) && Number.isInteger(hop)
    if (!areWholeSamples || length < MIN_REGION || hop < 1) {
      throw new RangeError(`no windows of ${length} samples every ${hop}`)
    }
  }
}

/**
 * Scales an embedding to length 1, in place. Throws when its length is zero or not a finite number.
 */
export function scaleToUnitLength(embedding: Float32Array): Float32Array {
  const length = Math.hypot(...embedding)
  if (!(length > 0 && length < Number.POSITIVE_INFINITY)) {
    throw new RangeError(`an embedding of length ${length}`)
  }
  for (let i = 0; i < embedding.length; i++) embedding[i]! /= length
  return embedding
}
