import type { Db } from '../../database/db.ts'

/**
 * Returns which of these objects some row refers to: as a recording, a redacted one, a long result,
 * or a long message.
 */
export async function findKnownObjects(
  db: Pick<Db, 'sql'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const files = db.sql.selectFrom('files').select('id').where('id', 'in', ids)
  const results = db.sql
    .selectFrom('jobs')
    .select('result_object as id')
    .where('result_object', 'in', ids)
    .$narrowType<{ id: string }>()
  const redacted = db.sql
    .selectFrom('jobs')
    .select('redacted_object as id')
    .where('redacted_object', 'in', ids)
    .$narrowType<{ id: string }>()
  const messages = db.sql
    .selectFrom('deliveries')
    .select('body_object as id')
    .where('body_object', 'in', ids)
    .$narrowType<{ id: string }>()
  const rows = await files.union(results).union(redacted).union(messages).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Returns those of these objects that are released recordings. */
export async function findReleasedRecordings(db: Db, ids: readonly string[]): Promise<Set<string>> {
  const rows = await selectReleased(db).where('file_id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Returns whether some row refers to a recording that is not released. */
export async function hasRecordings(db: Pick<Db, 'sql'>): Promise<boolean> {
  const kept = db.sql.selectFrom('files').select('id').where('id', 'not in', selectReleased(db))
  return (await kept.limit(1).executeTakeFirst()) !== undefined
}

/**
 * Selects the released recordings, which jobs refer to but no longer need: a redacted recording has
 * replaced them, or their job is a zero-retention job that has ended.
 */
function selectReleased(db: Pick<Db, 'sql'>) {
  return db.sql
    .selectFrom('jobs')
    .select('file_id as id')
    .where('file_id', 'is not', null)
    .where((job) =>
      job.or([
        job('redacted_object', 'is not', null),
        job.and([job('zero_retention', '=', 1), job('completed_at', 'is not', null)]),
      ]),
    )
    .$narrowType<{ id: string }>()
}
