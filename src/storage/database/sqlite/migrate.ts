import { type Kysely, sql } from 'kysely'
import * as jobs from '../migrations/0001-jobs.ts'
import * as keys from '../migrations/0002-keys.ts'
import * as jobLists from '../migrations/0003-job-lists.ts'
import * as liveSessions from '../migrations/0004-live-sessions.ts'
import * as deliveries from '../migrations/0005-deliveries.ts'
import * as redactedAudio from '../migrations/0006-redacted-sound.ts'
import * as liveSessionKeys from '../migrations/0007-live-session-keys.ts'
import * as bytes from '../migrations/0008-bytes.ts'
import * as owners from '../migrations/0009-owners.ts'
import * as deliveryLeases from '../migrations/0010-delivery-leases.ts'
import * as signIns from '../migrations/0011-sign-ins.ts'
import * as events from '../migrations/0012-events.ts'
import * as nodes from '../migrations/0013-nodes.ts'
import * as search from '../migrations/0014-search.ts'
import * as usage from '../migrations/0015-usage.ts'
import * as transcriptEdits from '../migrations/0016-transcript-edits.ts'
import * as auditLog from '../migrations/0017-audit-log.ts'
import * as zeroRetention from '../migrations/0018-zero-retention.ts'
import * as objectKeys from '../migrations/0019-object-keys.ts'
import * as earlyDatabases from '../migrations/0020-early-databases.ts'
import * as speakerNames from '../migrations/0021-speaker-names.ts'
import * as requestWarnings from '../migrations/0022-request-warnings.ts'
import { pendingMigrations } from '../renumbered-migrations.ts'
import { wrongVersion } from '../wrong-version.ts'
import type { FillOptions, MigrateOptions } from './migration-progress.ts'

/** What a version changes: the tables, then the rows in them. */
type Migration = {
  statements: readonly string[]
  fill?: <T>(tx: Kysely<T>, options: FillOptions) => Promise<void>
}

/** The migrations, numbered from 1 by position. They are never edited or reordered. */
const migrations: readonly Migration[] = [
  jobs,
  keys,
  jobLists,
  liveSessions,
  deliveries,
  redactedAudio,
  liveSessionKeys,
  bytes,
  owners,
  deliveryLeases,
  signIns,
  events,
  nodes,
  search,
  usage,
  transcriptEdits,
  auditLog,
  zeroRetention,
  objectKeys,
  earlyDatabases,
  speakerNames,
  requestWarnings,
]

/** The database version of this program. */
export const SQLITE_VERSION = migrations.length

type VersionTables = { schema_version: { version: number } }

/**
 * The cache during a migration. It holds the pages of a large index that is built in random order;
 * with a smaller cache, each page is written many times.
 */
const CACHE_KIB = 256 * 1024

/**
 * Migrates the tables to the version of this program, in one transaction. If the process is killed
 * or the migration is aborted, the database keeps its old state. A database of a newer version is
 * refused and not changed.
 */
export async function migrate<T>(
  database: Kysely<T>,
  { signal, progress }: MigrateOptions = {},
): Promise<void> {
  const before = await readCacheSize(database)
  await setCacheSize(database, -CACHE_KIB)
  const wasOlder = await database.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_version (version integer not null)`.execute(tx)
    const current = await readSchemaVersion(tx)
    if (current !== undefined && current > migrations.length)
      throw wrongVersion(current, migrations.length)
    const isOlder = current !== undefined && current < migrations.length
    if (isOlder) progress?.begin({ from: current, to: migrations.length })
    const missing = await pendingMigrations({
      current: current ?? 0,
      newest: migrations.length,
      hasColumn: (place) => hasColumn(tx, place),
    })
    for (const version of missing) {
      const { statements, fill } = migrations[version - 1]!
      for (const statement of statements) {
        signal?.throwIfAborted()
        await sql.raw(statement).execute(tx)
      }
      await fill?.(tx, { signal, onProgress: (rows) => progress?.rows(version, rows) })
    }
    signal?.throwIfAborted()
    await writeVersion(tx, { isNew: current === undefined })
    return isOlder
  })
  if (wasOlder) progress?.end()
  await setCacheSize(database, before)
}

async function hasColumn<T>(
  tx: Kysely<T>,
  { table, column }: { table: string; column: string },
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pragma_table_info(${table}) where name = ${column}`.execute(tx)
  return rows.length > 0
}

async function writeVersion<T>(tx: Kysely<T>, { isNew }: { isNew: boolean }): Promise<void> {
  const versions = tx as unknown as Kysely<VersionTables>
  const row = { version: migrations.length }
  if (isNew) await versions.insertInto('schema_version').values(row).execute()
  else await versions.updateTable('schema_version').set(row).execute()
}

/**
 * Returns the cache size in pages, or in KiB if it is negative
 * (sqlite.org/pragma.html#pragma_cache_size).
 */
async function readCacheSize<T>(database: Kysely<T>): Promise<number> {
  const { rows } = await sql<{ cache_size: number }>`pragma cache_size`.execute(database)
  return rows[0]!.cache_size
}

async function setCacheSize<T>(database: Kysely<T>, size: number): Promise<void> {
  await sql.raw(`pragma cache_size = ${size}`).execute(database)
}

/**
 * Throws unless the database has the version of this program (`same`), or any version that the
 * program knows (`known`); changes nothing.
 */
export async function checkVersion<T>(
  database: Kysely<T>,
  allowed: 'same' | 'known',
): Promise<void> {
  const version = await readSchemaVersion(database)
  if (version === migrations.length) return
  if (allowed === 'same' || version === undefined || version > migrations.length) {
    throw wrongVersion(version, migrations.length)
  }
}

async function readSchemaVersion<T>(database: Kysely<T>): Promise<number | undefined> {
  const versions = database as unknown as Kysely<VersionTables>
  const row = await versions.selectFrom('schema_version').select('version').executeTakeFirst()
  return row?.version
}
