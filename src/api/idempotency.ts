import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../errors.ts'
import type { IdempotencyKey } from '../storage/creation.ts'
import { sha256 } from './auth.ts'
import { isObject } from './validation.ts'

const MAX_LENGTH = 255

/** What a creation was asked with. */
export type Asked = { headers: IncomingHttpHeaders; account: string; kind: string; body: unknown }

/**
 * The key that a client gave its request (contract 1.8), with a fingerprint of what it asked for;
 * undefined when it gave none. The order of the fields does not count.
 */
export function readIdempotencyKey({
  headers,
  account,
  kind,
  body,
}: Asked): IdempotencyKey | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || key.length === 0 || key.length > MAX_LENGTH) {
    const validationErrors = [`idempotency_key must be 1 to ${MAX_LENGTH} characters long`]
    throw new AppError('request_invalid', undefined, { validationErrors })
  }
  const fingerprint = sha256(`${kind} ${JSON.stringify(inOrder(body))}`).toString('hex')
  return { account, key, fingerprint }
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  // As pairs: an object would put keys that look like numbers first, and lose none that is special.
  return {
    keys: Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  }
}
