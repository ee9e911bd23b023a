import { type Kysely, sql } from 'kysely'
import { pendingMigrations } from '../renumbered-migrations.ts'
import { wrongVersion } from '../wrong-version.ts'
import { laterVersions } from './migrations.ts'
import { FIRST_VERSION, firstSchema } from './schema.ts'

type VersionTables = { schema_version: { version: number } }

/** The database version of this program. */
export const POSTGRES_VERSION = FIRST_VERSION + laterVersions.length

/**
 * Returns the version of a database, or undefined if it has no tables of this program; throws if
 * the version is newer than this program.
 */
export async function readSchemaVersion<T>(database: Kysely<T>): Promise<number | undefined> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass('schema_version') is not null as found`.execute(database)
  if (!rows[0]!.found) return undefined
  const versions = database as unknown as Kysely<VersionTables>
  const row = await versions.selectFrom('schema_version').select('version').executeTakeFirst()
  if (row && row.version > POSTGRES_VERSION) throw wrongVersion(row.version, POSTGRES_VERSION)
  return row?.version
}

/** Returns whether a database has the version of this program. */
export function isCurrentVersion(version: number | undefined): boolean {
  return version === POSTGRES_VERSION
}

/** What a migration reports: the version it starts from. */
export type OnMigration = (versions: { from: number; to: number }) => void

/**
 * Migrates the tables to the version of this program, in one transaction under a lock: of several
 * processes that start together one migrates, and the others wait. A migration that is killed or
 * aborted leaves the database as it was.
 */
export async function migrate<T>(
  database: Kysely<T>,
  { signal, onBegin }: { signal?: AbortSignal | undefined; onBegin?: OnMigration | undefined } = {},
): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended('steno migrations', 0))`.execute(tx)
    signal?.throwIfAborted()
    const current = await readSchemaVersion(tx)
    if (isCurrentVersion(current)) return
    if (current !== undefined && current < FIRST_VERSION)
      throw wrongVersion(current, POSTGRES_VERSION)
    if (current !== undefined) onBegin?.({ from: current, to: POSTGRES_VERSION })
    const missing = await pendingMigrations({
      current: current ?? FIRST_VERSION,
      newest: POSTGRES_VERSION,
      hasColumn: (place) => hasColumn(tx, place),
    })
    const steps = missing.map((version) => laterVersions[version - FIRST_VERSION - 1]!)
    if (current === undefined) steps.unshift(firstSchema)
    for (const statement of steps.flat()) {
      signal?.throwIfAborted()
      await sql.raw(statement).execute(tx)
    }
    if (current === undefined) {
      await sql`create table schema_version (version integer not null)`.execute(tx)
      await sql`insert into schema_version (version) values (${POSTGRES_VERSION})`.execute(tx)
    } else await sql`update schema_version set version = ${POSTGRES_VERSION}`.execute(tx)
  })
}

async function hasColumn<T>(
  tx: Kysely<T>,
  { table, column }: { table: string; column: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from information_schema.columns where table_schema = current_schema()
      and table_name = ${table} and column_name = ${column}`.execute(tx)
  return rows.length > 0
}
