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
 * Writes a table in the form of RFC 4180. It begins with a byte order mark, without which Excel
 * reads no UTF-8; programs find the same in JSON. Text that a spreadsheet would take for a formula
 * gets an apostrophe in front: spoken text must not become a formula.
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
