import type { Db } from '../../storage/database/db.ts'
import { type Endpoint, findEndpoint } from '../../storage/deliveries/endpoints/endpoints.ts'
import { sanitize } from '../terminal/sanitize.ts'

/**
 * Finds a webhook. Throws when there is none, and also when the id belongs to a callback endpoint.
 */
export async function findWebhook(db: Pick<Db, 'sql'>, id: string): Promise<Endpoint> {
  const endpoint = await findEndpoint(db, { id })
  if (!endpoint) throw new Error(`Cannot find a webhook with the id ${id}`)
  if (endpoint.kind === 'webhook') return endpoint
  const account = sanitize(endpoint.account)
  throw new Error(
    `Cannot do this with ${id}: it is a callback endpoint: jobs name its addresses, and requests are signed ` +
      `with the secret of the account ${account}`,
  )
}
