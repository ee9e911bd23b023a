import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { ObjectDeletions } from '../objects/object-deletions.ts'
import type { Objects } from '../objects/objects.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/** Notifies servers of one database that jobs may wait. Only a hint: a lost one costs a poll. */
export type JobNotifier = {
  /** Notifies the others, soon; call it after the transaction. */
  notify(): void
  /**
   * Calls `onNotify` when another server notifies, or may have; returns a function that ends that.
   */
  listen(onNotify: () => void): () => void
}

/** An open database: its rows, and the wording of its statements. */
export type Database = {
  readonly sql: Kysely<Tables>
  /** For queries that may take long: only other such queries wait for them. */
  readonly reader: Kysely<Tables>
  readonly dialect: Dialect
  /** Whether other servers work on it too. */
  readonly isShared?: boolean
  readonly jobNotifier?: JobNotifier
  /**
   * Adds up what grows with every change, and frees the space of deleted rows, if the database does
   * not by itself; called with each heartbeat.
   */
  runMaintenance?(): Promise<void>
}

/** What a query needs that is the same for all databases. */
export type Queryable = Pick<Database, 'sql'>

/** What a query needs whose wording depends on the database. */
export type DialectQueryable = Pick<Database, 'sql' | 'dialect'>

/**
 * The handle that every statement reads and writes through: rows in `sql`, and large values in
 * `objects`, whose ids rows hold.
 */
export type Db = Database & {
  readonly objects: Objects
  /** Deletes objects that no row refers to, even if their store is unavailable at the moment. */
  readonly deletions: ObjectDeletions
  /** The id under which this process claims what it works on. */
  readonly owner: string
}

/** Another transaction deleted a row that this one refers to. A retry finds the row missing. */
export class RowDeletedError extends Error {}

/** How often a transaction is repeated that failed only because of others. */
const MAX_TRIES = 6
/** The longest pause before the first repetition; doubled for each further one. */
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

/** Runs `work` when no other such work of the same name runs, in any process. */
export async function withLock<T>(db: Db, name: string, work: (tx: Db) => Promise<T>): Promise<T> {
  // If one transaction runs at a time, so does each statement.
  if (!db.dialect.lock) return work(db)
  return inTransaction(db, async (tx) => {
    await tx.dialect.lock?.(tx, name)
    return work(tx)
  })
}
