import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/db.ts'
import { type Endpoint, toEndpoint } from './endpoints.ts'

/** The state of an endpoint, in the words of the API. */
export type EndpointStatus = 'enabled' | 'failing' | 'disabled'

/** Which endpoints to list; all given conditions must hold. */
export type EndpointFilter = {
  account?: string | undefined
  kinds?: readonly Endpoint['kind'][] | undefined
  statuses?: readonly EndpointStatus[] | undefined
}

const conditions = {
  enabled: sql<SqlBool>`(disabled_at is null and failing_since is null)`,
  failing: sql<SqlBool>`(disabled_at is null and failing_since is not null)`,
  disabled: sql<SqlBool>`(disabled_at is not null)`,
} as const satisfies Record<EndpointStatus, unknown>

/**
 * Returns a page of the endpoints of one account, or of all, oldest first, and whether more follow.
 */
export async function pageEndpoints(
  db: Pick<Db, 'reader'>,
  { account, kinds = [], statuses = [] }: EndpointFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ endpoints: Endpoint[]; more: boolean }> {
  let query = db.reader
    .selectFrom('endpoints')
    .selectAll()
    .$if(account !== undefined, (query) => query.where('account', '=', account!))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit + 1)
    .offset(offset)
  if (kinds.length > 0) query = query.where('kind', 'in', kinds)
  if (statuses.length > 0) {
    query = query.where((row) => row.or(statuses.map((status) => conditions[status])))
  }
  const rows = await query.execute()
  return { endpoints: rows.slice(0, limit).map(toEndpoint), more: rows.length > limit }
}
