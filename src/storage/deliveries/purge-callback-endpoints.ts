import { type SqlBool, sql } from 'kysely'
import type { Db } from '../db.ts'
import { MAX_GAP_MS } from './deliveries.ts'

/** So many endpoints are looked at in one statement: others can write between two. */
const BATCH = 500

/** How many endpoints went, and behind which id to go on; undefined when all were looked at. */
export type Purged = { forgotten: number; last: string | undefined }

/**
 * Forgets callback endpoints behind the id `after`, some at a time: those that have no deliveries left and
 * of which nothing is to be remembered, since they are not disabled and what they failed at counts no more.
 * The statement that deletes one looks for its deliveries, and whoever queues one makes the endpoint in the
 * same transaction if need be: no delivery loses its endpoint.
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
