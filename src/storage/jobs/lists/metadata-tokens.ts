import { createHash } from 'node:crypto'
import { isObject } from '../../../is-object.ts'

/** The length of a token. An accidental match is unlikely below 2^64 keys of one account. */
const TOKEN_BYTES = 16

/**
 * Returns the tokens of an account's metadata: one per key at each depth, built from the path and
 * the value as filters compare it. A job matches a filter exactly if it has all tokens of the
 * filter. Scalars are equal if their text is, lists if all their items are. A requested object only
 * has to exist; its keys have tokens of their own.
 */
export function metadataTokens(account: string, metadata: Record<string, unknown>): Buffer[] {
  return Object.entries(metadata).flatMap(([key, value]) => tokensAt([key], value))

  function tokensAt(path: readonly string[], value: unknown): Buffer[] {
    const token = createHash('sha256')
      .update(JSON.stringify([account, path, comparableValue(value)]))
      .digest()
      .subarray(0, TOKEN_BYTES)
    if (!isObject(value)) return [token]
    return [
      token,
      ...Object.entries(value).flatMap(([key, item]) => tokensAt([...path, key], item)),
    ]
  }
}

/** Describes a value so that values that are equal in the above sense have equal descriptions. */
function comparableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(describeWhole)
  return isObject(value) ? {} : String(value)
}

/** Like `comparableValue`, but with an object's keys: within a list nothing may be left out. */
function describeWhole(value: unknown): unknown {
  if (!isObject(value)) return comparableValue(value)
  const keys = Object.keys(value).sort()
  return { keys, values: keys.map((key) => describeWhole(value[key])) }
}
