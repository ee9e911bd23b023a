type Column = { table: string; column: string }

/**
 * Migrations that were developed in parallel: some early databases applied them in a different
 * order, under different numbers. Each is recognized by what only it adds.
 */
const parallel = new Map<number, Column>([
  [13, { table: 'owners', column: 'url' }],
  [14, { table: 'search_queue', column: 'job_id' }],
  [15, { table: 'usage', column: 'amount' }],
  [16, { table: 'transcript_edits', column: 'job_id' }],
  [17, { table: 'audit_log', column: 'id' }],
])

/** Returns the versions that a database with the number `current` lacks, in their order. */
export async function pendingMigrations({
  current,
  newest,
  hasColumn,
}: {
  current: number
  newest: number
  hasColumn: (place: Column) => Promise<boolean>
}): Promise<number[]> {
  const missing: number[] = []
  for (let version = 1; version <= newest; version++) {
    const place = parallel.has(current) ? parallel.get(version) : undefined
    const isThere = place ? await hasColumn(place) : version <= current
    if (!isThere) missing.push(version)
  }
  return missing
}
