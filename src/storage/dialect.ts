import type { RawBuilder, SqlBool } from 'kysely'

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
  /** The JSON text in `column` with `field` set to the JSON text `value`. */
  setJsonField(column: string, field: string, value: string): RawBuilder<string>
  /** Follows a table whose rows are to be found by an index, where the planner would take another. */
  byIndex(name: string): RawBuilder<unknown>
  /** A column whose own index is not to be used, because another finds fewer rows. */
  withoutIndex(column: string): RawBuilder<unknown>
  /** Reads a selected condition. */
  toBoolean(value: unknown): boolean
}
