import { sanitize } from './sanitize.ts'

/** Formats a line of headings and one for each row, in columns. Cells must be safe to print. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const table = [headings, ...rows].map((row) => row.map(sanitize))
  const widths = headings.map((_, i) => Math.max(...table.map((row) => row[i]!.length)))
  return table
    .map((row) => `${row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}
