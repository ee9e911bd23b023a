/** A file that is not a database, or is damaged. */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26])

/** SQLite's own message for a database that cannot be opened names neither file nor remedy. */
export function openingError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const text = `Cannot open the database ${file}: ${error.message}`
  const remedy = DAMAGED.has(error.errcode) ? "; put a backup in its place ('steno restore')" : ''
  return new Error(`${text}${remedy}`, { cause: error })
}
