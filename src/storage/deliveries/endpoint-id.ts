import { createHash } from 'node:crypto'
import type { EndpointRow } from '../tables.ts'

/** The id of the endpoint of an account that stands for an address: the same whoever asks, and when. */
export function endpointIdOf(account: string, kind: EndpointRow['kind'], url: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([account, kind, url]))
    .digest('hex')
  return `ep_${hash.slice(0, 16)}`
}
