import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../errors.ts'
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../schemas/common/limits.ts'

/** Returns the idempotency key of a request; undefined when it has none. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length > 0 && key.length <= MAX_IDEMPOTENCY_KEY_CHARS) {
    return key
  }
  const rule = `must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} characters long`
  throw new AppError('request_invalid', undefined, {
    validationErrors: [`idempotency_key ${rule}`],
  })
}
