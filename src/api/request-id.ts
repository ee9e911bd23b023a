import { randomBytes } from 'node:crypto'

/** A new id of the documented form (contract 1.5), for one request. */
export function newRequestId(): string {
  return `G-${randomBytes(4).toString('hex')}`
}
