import { type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { MAX_GAP_MS } from './deliveries.ts'

/** Endpoints checked per statement, so that others can write in between. */
const BATCH = 500

/**
 * How many endpoints were purged, and the id after which to continue; undefined when all were
 * checked.
 */
export type Purged = { forgotten: number; last: string | undefined }

/**
 * Purges one batch of callback endpoints after the id `after`: those without deliveries and without
 * state worth keeping, because they are not disabled and their failures no longer count. The
 * deleting statement itself looks for deliveries, and code that queues one creates the endpoint in
 * the same transaction if needed: no delivery loses its endpoint.
 */
export async function purgeCallbackEndpoints(
  db: Pick<Db, 'sql'>,
  { after, now }: { after: string; now: number },
): Promise<Purged> {
  const rows = await db.sql
    .selectFrom('endpoints')
    .select('id')
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH)
    .execute()
  const last = rows.at(-1)?.id
  if (last === undefined) return { forgotten: 0, last }
  const { numDeletedRows } = await db.sql
    .deleteFrom('endpoints')
    .where('id', '>', after)
    .where('id', '<=', last)
    .where('kind', '=', 'callback')
    .where('disabled_at', 'is', null)
    .where((row) =>
      row.or([row('failing_since', 'is', null), row('last_failure_at', '<', now - MAX_GAP_MS)]),
    )
    .where(sql<SqlBool>`not exists (select 1 from deliveries where endpoint_id = endpoints.id)`)
    .executeTakeFirst()
  return { forgotten: Number(numDeletedRows), last: rows.length < BATCH ? undefined : last }
}
