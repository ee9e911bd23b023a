import { createHash } from 'node:crypto'
import { isObject } from '../validation/validate-fields.ts'

/**
 * Returns a hash of everything that a creation requests. The order of the fields
 * does not matter.
 */
export function fingerprintOf(kind: string, body: unknown): string {
  return createHash('sha256')
    .update(`${kind} ${JSON.stringify(inOrder(body))}`)
    .digest('hex')
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  // As pairs: an object would put keys that look like numbers first, and could lose special keys.
  return {
    keys: Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  }
}
