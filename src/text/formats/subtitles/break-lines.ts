import { breakPenalty, type TextChunk } from './break-penalty.ts'

/** A break after a comma is worth rows that differ by a fifth of their width. */
const BREAK_WEIGHT = 0.1

/**
 * The best rows for the chunks before an index: their total penalty, and the first chunk of the
 * last row.
 */
type Plan = { penalty: number; first: number }

/**
 * Breaks chunks into rows of at most `width` columns: as few rows as possible, of similar length,
 * after punctuation where possible. A wider chunk has its own row. Minimizes squares as in Knuth
 * and Plass, "Breaking paragraphs into lines" (1981).
 */
export function breakLines(chunks: readonly TextChunk[], width: number): string[] {
  const count = countRows(chunks, width)
  const columns = sumColumns(chunks)
  const layers: Plan[][] = [[{ penalty: 0, first: 0 }]]
  for (let row = 0; row < count; row++) {
    const before = layers[row]!
    const plans: Plan[] = []
    for (let end = 1; end <= chunks.length; end++) {
      let best: Plan = { penalty: Number.POSITIVE_INFINITY, first: end - 1 }
      for (let first = end - 1; first >= 0; first--) {
        const used = columns(first, end)
        if (used > width && first < end - 1) break
        const penalty =
          (before[first]?.penalty ?? Number.POSITIVE_INFINITY) +
          (used / width) ** 2 +
          BREAK_WEIGHT * breakPenalty(chunks[end - 1]!, chunks[end])
        // With the same penalty, the lower row becomes the longer one, so that less of the picture
        // is hidden.
        if (penalty <= best.penalty) best = { penalty, first }
      }
      plans[end] = best
    }
    layers.push(plans)
  }
  const rows: string[] = []
  for (let end = chunks.length; end > 0; ) {
    const { first } = layers[count - rows.length]![end]!
    rows.unshift(joinChunks(chunks.slice(first, end)))
    end = first
  }
  return rows
}

function countRows(chunks: readonly TextChunk[], width: number): number {
  let rows = 0
  let columns = Number.POSITIVE_INFINITY
  for (const chunk of chunks) {
    columns += chunk.space.length + chunk.columns
    if (columns <= width) continue
    rows++
    columns = chunk.columns
  }
  return rows
}

/** Returns a function that returns the columns of a row from one chunk to another. */
function sumColumns(chunks: readonly TextChunk[]): (first: number, end: number) => number {
  const sums = [0]
  for (const { space, columns } of chunks) sums.push(sums.at(-1)! + space.length + columns)
  return (first, end) => sums[end]! - sums[first]! - chunks[first]!.space.length
}

function joinChunks(chunks: readonly TextChunk[]): string {
  return chunks.map(({ space, text }, i) => (i === 0 ? text : space + text)).join('')
}
