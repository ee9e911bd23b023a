import { createHash } from 'node:crypto'
import type { EndpointRow } from '../../database/tables.ts'

/** Returns the id of an account's endpoint for a URL: always the same for the same arguments. */
export function endpointIdOf(account: string, kind: EndpointRow['kind'], url: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([account, kind, url]))
    .digest('hex')
  return `ep_${hash.slice(0, 16)}`
}
