import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { ObjectDeletions } from '../objects/object-deletions.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/**
 * Notifies the nodes of one database that jobs may wait. If a notification is lost, the jobs only
 * wait for the next poll.
 */
export type JobNotifier = {
  /** Notifies the others, soon; call it after the transaction. */
  notify(): void
  /**
   * Calls `onNotify` when another node sends a notification, or may have sent one; returns a
   * function that stops these calls.
   */
  listen(onNotify: () => void): () => void
}

/** An open database, with the SQL in which databases differ. */
export type Database = {
  readonly sql: Kysely<Tables>
  /** For queries that may take long: only other such queries wait for them. */
  readonly reader: Kysely<Tables>
  readonly dialect: Dialect
  /** Whether other nodes work on it too. */
  readonly isShared?: boolean
  readonly jobNotifier?: JobNotifier
  /**
   * Does what the database does not do by itself: sums up recorded changes, and frees the space of
   * deleted rows. Called with each heartbeat.
   */
  runMaintenance?(): Promise<void>
}

/** What a query needs whose SQL is the same for all databases. */
export type Queryable = Pick<Database, 'sql'>

/** What a query needs whose SQL depends on the database. */
export type DialectQueryable = Pick<Database, 'sql' | 'dialect'>

/**
 * The handle that every statement reads and writes through: rows in `sql`, and large values in
 * `objects`, whose ids rows hold.
 */
export type Db = Database & {
  readonly objects: ObjectStore
  /** Deletes objects that no row refers to, even if their store is unavailable at the moment. */
  readonly deletions: ObjectDeletions
  /** The id of this process as a node, which owns the leases that it claims. */
  readonly nodeId: string
}

/** Another transaction deleted a row that this one refers to. A retry finds the row missing. */
export class RowDeletedError extends Error {}

/** How many times a transaction runs if it fails only because of others. */
const MAX_TRIES = 6
/**
 * The base of the pause before a repetition: the pause is at most twice as long, and this limit
 * doubles each time.
 */
const PAUSE_MS = 10

/**
 * Runs `work` as one transaction, or as part of the one that `db` is. On SQLite nothing else
 * reaches the connection until it has ended. On PostgreSQL others run beside it, so `work` runs
 * again if they prevented its commit.
 */
export async function inTransaction<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  if (db.sql.isTransaction) return work(db)
  for (let tries = 1; ; tries++) {
    try {
      return await db.sql.transaction().execute((sql) => work({ ...db, sql }))
    } catch (error) {
      const isTransient = error instanceof RowDeletedError || db.dialect.isConflict(error)
      if (!isTransient || tries === MAX_TRIES) throw error
      await delay(Math.random() * PAUSE_MS * 2 ** tries)
    }
  }
}

/** Runs `work` while no other work with the same lock name runs, in any process. */
export async function withLock<T>(db: Db, name: string, work: (tx: Db) => Promise<T>): Promise<T> {
  // If one transaction runs at a time, so does each statement.
  if (!db.dialect.lock) return work(db)
  return inTransaction(db, async (tx) => {
    await tx.dialect.lock?.(tx, name)
    return work(tx)
  })
}

/**
 * Throws unless a database that several nodes share responds. That of a data folder is not asked: a
 * busy reader would delay the answer.
 */
export async function checkSharedDatabase(db: Pick<Db, 'isShared' | 'reader'>): Promise<void> {
  if (db.isShared) await sql`select 1`.execute(db.reader)
}
