/** A part of a file in bytes, and the number of links of an Ogg chain in it. */
export type FilePart = { start: number; end: number; links?: number }

/** Maximum parts of a file: one with more is crafted to block the reader. */
export const MAX_PARTS = 1000

/**
 * Returns the parts that begin at these offsets of a file of `size` bytes; none if there is only
 * one. What comes before the first, such as tags, belongs to it.
 */
export function partsFrom(starts: readonly number[], size: number): FilePart[] {
  if (starts.length < 2) return []
  return starts.map((start, i) => ({ start: i === 0 ? 0 : start, end: starts[i + 1] ?? size }))
}
