type Column = { table: string; column: string }

/**
 * Migrations that were developed in parallel: some early databases applied them in a different
 * order, under different numbers. A column that only this migration adds shows whether it was
 * applied.
 */
const parallel = new Map<number, Column>([
  [13, { table: 'owners', column: 'url' }],
  [14, { table: 'search_queue', column: 'job_id' }],
  [15, { table: 'usage', column: 'amount' }],
  [16, { table: 'transcript_edits', column: 'job_id' }],
  [17, { table: 'audit_log', column: 'id' }],
])

/** Returns the versions that a database of version `current` lacks, in order. */
export async function pendingMigrations({
  current,
  newest,
  hasColumn,
}: {
  current: number
  newest: number
  hasColumn: (column: Column) => Promise<boolean>
}): Promise<number[]> {
  const missing: number[] = []
  for (let version = 1; version <= newest; version++) {
    const column = parallel.has(current) ? parallel.get(version) : undefined
    const isThere = column ? await hasColumn(column) : version <= current
    if (!isThere) missing.push(version)
  }
  return missing
}
