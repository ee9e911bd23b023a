/** A row of a table of utterances. */
export type CsvRow = {
  start: number
  end: number
  speaker: string
  language: string
  text: string
}

const columns = ['start', 'end', 'speaker', 'language', 'text'] as const

/**
 * Writes a table as CSV (RFC 4180). It begins with a byte order mark, because without one Excel
 * does not read UTF-8. An apostrophe precedes text that a spreadsheet would treat as a formula.
 */
export function formatCsv(rows: readonly CsvRow[]): string {
  const lines = rows.map((row) => columns.map((name) => field(row[name])).join())
  return `\uFEFF${[columns.join(), ...lines].join('\r\n')}\r\n`
}

function field(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
