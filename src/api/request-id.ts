import { randomBytes } from 'node:crypto'

/** Returns a new request id in the documented form (contract 1.5). */
export function newRequestId(): string {
  return `G-${randomBytes(4).toString('hex')}`
}
