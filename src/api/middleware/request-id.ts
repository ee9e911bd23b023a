import { randomUUID } from 'node:crypto'

/** Returns a new request id in the documented form. */
export function newRequestId(): string {
  // The first eight digits are random, and the system is asked for many at a time.
  return `G-${randomUUID().slice(0, 8)}`
}
