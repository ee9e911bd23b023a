import { type Kysely, sql } from 'kysely'
import type { DatabaseConfig } from '../../config/storage/database.ts'
import type { Tables } from '../database/tables.ts'
import type { Position } from './transfer-rows.ts'
import { tablesToBeEmpty } from './transferred-tables.ts'

/** A PostgreSQL database that rows move into. */
export type TargetDatabase = {
  sql: Kysely<Tables>
  /** The position up to which an earlier run has copied. */
  position: Position
  close(): Promise<void>
}

/**
 * The source of a transfer, which identifies it, and whether rows and objects that it copied before
 * are removed first.
 */
export type TransferIdentity = { source: string; isRestarted: boolean }

/**
 * Opens the target of a transfer: an empty database, or one into which the same folder was being
 * moved. Throws if it is in use.
 */
export async function openTarget(
  settings: DatabaseConfig,
  { source, isRestarted }: TransferIdentity,
): Promise<TargetDatabase> {
  const { openPostgres } = await import('../database/postgres/postgres.ts')
  const opened = await openPostgres({ ...settings, connections: 2 }, { version: 'transfer' })
  try {
    const position = await beginTransfer(opened.sql, { source, isRestarted })
    return { sql: opened.sql, position, close: opened.close }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Stores the position of the copy, in the transaction that copies. */
export async function savePosition(tx: Kysely<Tables>, position: Position): Promise<void> {
  await sql`update store_move set position = ${JSON.stringify(position)}`.execute(tx)
}

/** Ends the transfer: from now on, servers may use the database. */
export async function closeTarget(settings: DatabaseConfig): Promise<void> {
  const { openPostgres } = await import('../database/postgres/postgres.ts')
  const opened = await openPostgres({ ...settings, connections: 2 }, { version: 'transfer' })
  try {
    await sql`drop table if exists store_move`.execute(opened.sql)
  } finally {
    await opened.close()
  }
}

async function beginTransfer(
  target: Kysely<Tables>,
  { source, isRestarted }: TransferIdentity,
): Promise<Position> {
  return target.transaction().execute(async (tx) => {
    // Without the lock, two transfers at the same time would both begin.
    await sql`select pg_advisory_xact_lock(hashtextextended('steno move', 0))`.execute(tx)
    await sql`create table if not exists store_move
      (source text not null, position text)`.execute(tx)
    const { rows } = await sql<{ source: string; position: string | null }>`
      select source, position from store_move`.execute(tx)
    const [positionRow] = rows
    if (positionRow && positionRow.source !== source) {
      throw new Error('Cannot move into this database: another data folder is being moved into it')
    }
    if (!positionRow) {
      const nonEmptyTable = await findNonEmptyTable(tx)
      if (nonEmptyTable) {
        throw new Error(
          `Cannot move into this database: it is in use, its table ${nonEmptyTable} has rows`,
        )
      }
      await sql`insert into store_move (source) values (${source})`.execute(tx)
    }
    if (positionRow && isRestarted) {
      for (const { name } of tablesToBeEmpty) await sql`delete from ${sql.table(name)}`.execute(tx)
      await sql`delete from account_byte_changes`.execute(tx)
      await sql`update store_move set position = null`.execute(tx)
      return null
    }
    return positionRow?.position ? (JSON.parse(positionRow.position) as Position) : null
  })
}

async function findNonEmptyTable(tx: Kysely<Tables>): Promise<string | undefined> {
  for (const { name } of tablesToBeEmpty) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(tx)
    if (rows.length > 0) return name
  }
  return undefined
}
