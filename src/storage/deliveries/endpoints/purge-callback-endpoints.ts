import { type SqlBool, sql } from 'kysely'
import { type Db, inTransaction } from '../../database/db.ts'
import { MAX_FAILURE_GAP_MS } from '../deliveries.ts'

/** The endpoints that one statement checks, so that others can write in between. */
const BATCH = 500

/**
 * The number of deleted endpoints, and the id after which to continue; undefined when all were
 * checked.
 */
export type PurgeResult = { deleted: number; last: string | undefined }

/**
 * Purges one batch of callback endpoints after the id `after`: those without deliveries and without
 * state worth keeping, because they are not disabled and their failures no longer count. The
 * deleting statement itself looks for deliveries, and code that queues one creates the endpoint in
 * the same transaction if needed: no delivery loses its endpoint.
 */
export async function purgeCallbackEndpoints(
  db: Db,
  { after, now }: { after: string; now: number },
): Promise<PurgeResult> {
  const rows = await db.sql
    .selectFrom('endpoints')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH)
    .execute()
  const last = rows.at(-1)?.id
  if (last === undefined) return { deleted: 0, last }
  const isUnused = sql<SqlBool>`(id > ${after} and id <= ${last} and kind = 'callback'
    and disabled_at is null
    and (failing_since is null or last_failure_at < ${now - MAX_FAILURE_GAP_MS})
    and not exists (select 1 from deliveries where endpoint_id = endpoints.id))`
  const deleted = await inTransaction(db, async (tx) => {
    await tx.dialect.lockRows?.(tx, 'endpoints', isUnused)
    const { numDeletedRows } = await tx.sql
      .deleteFrom('endpoints')
      .where(isUnused)
      .executeTakeFirst()
    return Number(numDeletedRows)
  })
  return { deleted, last: rows.length < BATCH ? undefined : last }
}
