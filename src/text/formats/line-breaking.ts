import { breakPenalty, type Piece } from './breaks.ts'

/** A break after a comma is worth rows that differ by a fifth of their width. */
const BREAK_WEIGHT = 0.1

/** The cheapest way to lay the pieces before an index: its price, and where its last row opens. */
type Plan = { price: number; opens: number }

/**
 * Lays pieces into rows of at most `width` columns: as few rows as possible, of about the same
 * length, broken after punctuation where possible. A wider piece has a row of its own. Minimizes
 * squares as in Knuth and Plass, "Breaking paragraphs into lines" (1981).
 */
export function breakLines(pieces: readonly Piece[], width: number): string[] {
  const count = countRows(pieces, width)
  const columns = sumColumns(pieces)
  const layers: Plan[][] = [[{ price: 0, opens: 0 }]]
  for (let row = 0; row < count; row++) {
    const before = layers[row]!
    const plans: Plan[] = []
    for (let end = 1; end <= pieces.length; end++) {
      let best: Plan = { price: Number.POSITIVE_INFINITY, opens: end - 1 }
      for (let opens = end - 1; opens >= 0; opens--) {
        const own = columns(opens, end)
        if (own > width && opens < end - 1) break
        const price =
          (before[opens]?.price ?? Number.POSITIVE_INFINITY) +
          (own / width) ** 2 +
          BREAK_WEIGHT * breakPenalty(pieces[end - 1]!, pieces[end])
        // At the same price the lower row is the longer one: it is nearer to the edge of the
        // picture.
        if (price <= best.price) best = { price, opens }
      }
      plans[end] = best
    }
    layers.push(plans)
  }
  const rows: string[] = []
  for (let end = pieces.length; end > 0; ) {
    const { opens } = layers[count - rows.length]![end]!
    rows.unshift(joinPieces(pieces.slice(opens, end)))
    end = opens
  }
  return rows
}

function countRows(pieces: readonly Piece[], width: number): number {
  let rows = 0
  let columns = Number.POSITIVE_INFINITY
  for (const piece of pieces) {
    columns += piece.blank.length + piece.columns
    if (columns <= width) continue
    rows++
    columns = piece.columns
  }
  return rows
}

/** Returns a function that gives the columns of a row of the pieces from one index to another. */
function sumColumns(pieces: readonly Piece[]): (opens: number, end: number) => number {
  const sums = [0]
  for (const { blank, columns } of pieces) sums.push(sums.at(-1)! + blank.length + columns)
  return (opens, end) => sums[end]! - sums[opens]! - pieces[opens]!.blank.length
}

function joinPieces(pieces: readonly Piece[]): string {
  return pieces.map(({ blank, text }, i) => (i === 0 ? text : blank + text)).join('')
}
