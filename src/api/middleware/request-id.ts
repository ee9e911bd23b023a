import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.ts'

/** Returns a new request id in the documented form. */
export function newRequestId(): string {
  // The first eight digits are random. Node requests many random bytes from the system at a time.
  return `G-${randomUUID().slice(0, 8)}`
}

/** Returns the header lines of a response that contain the id of its request. */
export function requestIdLines(
  requestId: string,
  { requestIdHeaderNames }: Pick<Config['http'], 'requestIdHeaderNames'>,
): string[] {
  return ['x-request-id', ...requestIdHeaderNames].map((name) => `${name}: ${requestId}`)
}
