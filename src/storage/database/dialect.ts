import type { Kysely, RawBuilder, SqlBool } from 'kysely'
import type { TermQuery } from '../search/term-query.ts'
import type { Tables } from './tables.ts'

/** A full-text index of terms, each utterance with the term of its account. */
export type SearchDialect = {
  /** The columns of `utterances` that hold terms, and what they hold of an utterance. */
  readonly columns: RawBuilder<unknown>
  values(accountTerm: string, terms: readonly string[]): RawBuilder<unknown>
  /** The utterances of an account that a query finds: all, or those of some jobs. */
  matchSql(accountTerm: string, query: TermQuery, jobIds?: readonly string[]): UtteranceMatchSql
  /** Estimates how many utterances a query finds; it may stop counting at many. */
  estimate(db: DatabaseHandle, accountTerm: string, query: TermQuery): Promise<number>
  /**
   * Lets the planner choose between the index of terms and those of the jobs, and sort; for a
   * transaction on the connections for lists, which only walk indexes in order.
   */
  choosePlan?(tx: DatabaseHandle): Promise<void>
}

/** The parts of a `select` in which `u` is the utterance. */
export type UtteranceMatchSql = { from: RawBuilder<unknown>; where: RawBuilder<SqlBool> }

type DatabaseHandle = { readonly sql: Kysely<Tables> }

/**
 * The parts of statements that databases word differently. Everything else is SQL that SQLite and
 * PostgreSQL share. A driver returns counts and times as numbers, and JSON as text.
 */
export type Dialect = {
  /** The database's clock, in milliseconds since 1970. */
  now(): RawBuilder<number>
  /** Whether `value` is one of `values`, of which there may be any number. */
  isIn(value: RawBuilder<unknown>, values: readonly string[]): RawBuilder<SqlBool>
  /** The JSON text of an object with these fields of the JSON text in `column`. */
  jsonFields(column: string, fields: readonly string[]): RawBuilder<string>
  /**
   * An index hint, which follows the name of a table where the planner would take another index.
   */
  byIndex(name: string): RawBuilder<unknown>
  /** A column whose own index is not to be used, because another finds fewer rows. */
  withoutIndex(column: string): RawBuilder<unknown>
  /** A table whose column `value` has the bytes of a JSON list of hexadecimal texts. */
  bytesOf(hexTexts: string): RawBuilder<unknown>
  /**
   * Whether connections are a `PipelinedConnection`. Outside a transaction such a connection holds
   * nothing that must be released.
   */
  readonly isPipelined?: boolean
  /** Reads a selected condition. */
  toBoolean(value: unknown): boolean
  /**
   * Locks a name until the transaction ends: transactions that lock the same name run one by one.
   * Undefined, like `lockRows`, where only one transaction runs at a time.
   */
  lock?(tx: DatabaseHandle, name: string): Promise<void>
  /**
   * Locks rows that the transaction may delete. Waits for transactions that add references to them,
   * so that a later statement sees those references.
   */
  lockRows?(tx: DatabaseHandle, table: keyof Tables, condition: RawBuilder<SqlBool>): Promise<void>
  /** Ends a `select` of rows that the transaction refers to: they stay until it ends. */
  readonly forKeyShare: RawBuilder<unknown>
  /** Ends a `select` of rows of a table to change: those that others are changing are left out. */
  forUpdateSkipLocked(table: string): RawBuilder<unknown>
  /** How terms are stored with utterances, and how they are searched for. */
  readonly search: SearchDialect
  /**
   * The condition that no running transaction can still commit a number lower than the one in
   * `column`.
   */
  isNoLowerNumberPending(column: string): RawBuilder<SqlBool>
  /**
   * Erases the remains of deleted rows, now or soon, as far as the database can and no reader still
   * needs them.
   */
  eraseDeletedRows(db: DatabaseHandle): Promise<void>
  /** Whether a transaction failed only because of others, so that it may be repeated. */
  isConflict(error: unknown): boolean
  /**
   * Whether a change may have been made although it failed: the response was lost with the
   * connection.
   */
  isOutcomeUnknown(error: unknown): boolean
}
