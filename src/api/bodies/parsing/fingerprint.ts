import { createHash } from 'node:crypto'
import { isObject } from '../../../is-object.ts'

/**
 * Returns a hash of everything that a creation requests. The order of the fields
 * does not matter.
 */
export function fingerprintOf(kind: string, body: unknown): string {
  return createHash('sha256')
    .update(`${kind} ${JSON.stringify(withSortedKeys(body))}`)
    .digest('hex')
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (!isObject(value)) return value
  // The result has pairs, because an object would move keys that look like numbers to the front,
  // and could lose special keys.
  return {
    keys: Object.keys(value)
      .sort()
      .map((key) => [key, withSortedKeys(value[key])]),
  }
}
