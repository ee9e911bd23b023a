import type { DialectQueryable } from '../../database/db.ts'
import { failEndpointDeliveries } from '../deliveries.ts'
import { disableEndpoint } from './endpoints.ts'

/**
 * Removes an endpoint with its secrets. Its pending deliveries fail; the delivery log stays. The
 * endpoint is disabled first: a process that dies midway leaves no pending delivery without an
 * endpoint, and the removal can be repeated. Returns false if there is no such endpoint.
 */
export async function removeEndpoint(
  db: DialectQueryable,
  id: string,
  { reason, at }: { reason: string; at: number },
): Promise<boolean> {
  await disableEndpoint(db, id, { reason, at })
  await failEndpointDeliveries(db, id, { reason, at })
  return db.sql.transaction().execute(async (sql) => {
    await sql.deleteFrom('signing_secrets').where('endpoint_id', '=', id).execute()
    const { numDeletedRows } = await sql
      .deleteFrom('endpoints')
      .where('id', '=', id)
      .executeTakeFirst()
    return numDeletedRows > 0n
  })
}
