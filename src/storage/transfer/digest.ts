import { createHash } from 'node:crypto'
import type { TransferredRow } from './transferred-tables.ts'

/**
 * A digest of the content of a table: the number of rows, and the sum of their hashes, which does
 * not depend on their order.
 */
export type TableDigest = { count: number; sum: bigint }

const MODULUS = 1n << 128n

/** Adds a row to a digest. */
export function addRow(digest: TableDigest, row: TransferredRow): void {
  const values = Object.keys(row)
    .sort()
    .map((column) => [column, comparable(row[column])])
  const hash = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  digest.count++
  digest.sum = (digest.sum + BigInt(`0x${hash.slice(0, 32)}`)) % MODULUS
}

/** PostgreSQL cannot store NUL characters in text, so every write replaces them. */
function comparable(value: TransferredRow[string] | undefined): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value
}
