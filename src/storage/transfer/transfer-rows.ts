import { type Kysely, sql } from 'kysely'
import type { SourceDatabase } from '../database/sqlite/source-database.ts'
import type { Tables } from '../database/tables.ts'
import { metadataTokens } from '../jobs/lists/metadata-tokens.ts'
import { addRow, type TableDigest } from './digest.ts'
import {
  metadataIndex,
  type TransferredRow,
  type TransferredTable,
  type TransferredValue,
  transferredTables,
} from './transferred-tables.ts'

/** Called with the number of steps that are done, and the total. */
export type OnCount = (done: number, total: number) => void

/** The source and the target of copied rows. */
export type RowTransfer = {
  source: SourceDatabase
  target: Kysely<Tables>
  signal: AbortSignal
  onCount: OnCount
}

/** Maximum rows, parameters and bytes of one transaction. */
const BATCH_ROWS = 500
const BATCH_VALUES = 30_000
const BATCH_BYTES = 8_000_000
/** The rows that are compared at a time. */
const PAGE = 200

/**
 * The position of the copy: the last copied row of a table. The rows of earlier tables are all
 * copied.
 */
export type Position = { table: string; after: TransferredValue[] } | null

/** Copies all rows after a position. Each batch and its position are written in one transaction. */
export async function copyRows(
  { source, target, signal, onCount }: RowTransfer,
  position: Position,
  savePosition: (tx: Kysely<Tables>, position: Position) => Promise<void>,
): Promise<void> {
  const total = transferredTables.reduce((sum, table) => sum + source.count(table), 0)
  const begun = transferredTables.findIndex(({ name }) => name === position?.table)
  let done = 0
  for (const [at, table] of transferredTables.entries()) {
    if (at < begun) {
      done += source.count(table)
      continue
    }
    const after = at === begun ? position!.after : undefined
    if (after) done += source.count(table) - source.count(table, after)
    for (const rows of batches(source.rows(table, after))) {
      signal.throwIfAborted()
      await target.transaction().execute(async (tx) => {
        await insert(tx, table.name, rows)
        if (table.name === 'jobs') await indexMetadata(tx, rows)
        const last = rows.at(-1)!
        await savePosition(tx, { table: table.name, after: table.key.map((name) => last[name]!) })
      })
      done += rows.length
      onCount(done, total)
    }
  }
}

function* batches(rows: Iterable<TransferredRow>): Generator<TransferredRow[]> {
  let batch: TransferredRow[] = []
  let bytes = 0
  for (const row of rows) {
    const values = Object.values(row)
    batch.push(row)
    for (const value of values) bytes += typeof value === 'string' ? value.length : 8
    const isFull = batch.length >= Math.min(BATCH_ROWS, BATCH_VALUES / values.length)
    if (!isFull && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

async function insert(
  tx: Kysely<Tables>,
  table: string,
  rows: readonly TransferredRow[],
): Promise<void> {
  const columns = Object.keys(rows[0]!)
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
    values ${sql.join(values)}`.execute(tx)
}

async function indexMetadata(tx: Kysely<Tables>, jobs: readonly TransferredRow[]): Promise<void> {
  const rows = jobs.flatMap(({ id, account, kind, created_at, custom_metadata }) => {
    if (typeof custom_metadata !== 'string') return []
    const tokens = metadataTokens(String(account), JSON.parse(custom_metadata))
    return tokens.map((token) => ({ token, created_at: created_at!, id: id!, kind: kind! }))
  })
  for (const batch of batches(rows)) await insert(tx, metadataIndex.name, batch)
}

/** Compares every row of both databases; returns the tables that differ. */
export async function findDifferences({
  source,
  target,
  signal,
  onCount,
}: RowTransfer): Promise<string[]> {
  const tables = [...transferredTables, metadataIndex]
  const total = 2 * tables.reduce((sum, table) => sum + source.count(table), 0)
  let done = 0
  const step = (rows: number) => {
    done += rows
    onCount(Math.min(total, done), total)
  }
  const differing: string[] = []
  for (const table of tables) {
    const before: TableDigest = { count: 0, sum: 0n }
    for (const row of source.rows(table)) {
      addRow(before, row)
      if (before.count % PAGE > 0) continue
      step(PAGE)
      // Reading blocks the event loop; signals are handled in between.
      await new Promise(setImmediate)
      signal.throwIfAborted()
    }
    const after: TableDigest = { count: 0, sum: 0n }
    for await (const rows of pages(target, table)) {
      signal.throwIfAborted()
      for (const row of rows) addRow(after, row)
      step(rows.length)
    }
    if (before.count !== after.count || before.sum !== after.sum) differing.push(table.name)
  }
  return differing
}

async function* pages(
  target: Kysely<Tables>,
  { name, key }: TransferredTable,
): AsyncGenerator<TransferredRow[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)))
  for (let after: TransferredValue[] | undefined; ; ) {
    const where = after ? sql`where (${columns}) > (${sql.join(after)})` : sql``
    const { rows } = await sql<TransferredRow>`select * from ${sql.table(name)} ${where}
      order by ${columns} limit ${PAGE}`.execute(target)
    if (rows.length === 0) return
    yield rows
    const last = rows.at(-1)!
    after = key.map((column) => last[column]!)
  }
}
