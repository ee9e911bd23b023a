/**
 * Prints the outcome of a benchmark as one JSON line; numbers are cut to four digits after the
 * point.
 */
export function report(outcome: Record<string, unknown>): void {
  console.log(
    JSON.stringify(outcome, (_key, value) => (typeof value === 'number' ? round(value) : value)),
  )
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
