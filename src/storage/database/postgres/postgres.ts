import { setTimeout as delay } from 'node:timers/promises'
import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  replaceWithNoncontingentExpression,
  sql,
} from 'kysely'
import type { DatabaseConfig } from '../../../config/storage/database.ts'
import { AppError, messageOf } from '../../../errors.ts'
import type { Database } from '../db.ts'
import type { Tables } from '../tables.ts'
import { wrongVersion } from '../wrong-version.ts'
import { createJobNotifier } from './job-notifier.ts'
import {
  isCurrentVersion,
  migrate,
  type OnMigration,
  POSTGRES_VERSION,
  readSchemaVersion,
} from './migrate.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { isRefusal, isUnavailable, readOnlyError } from './postgres-error.ts'
import { createPool, type PostgresPoolOptions } from './postgres-pool.ts'
import { createVacuum } from './vacuum.ts'

/** How a database is opened. */
export type OpenPostgresOptions = {
  /**
   * How the version of the tables is handled. Only a server may change tables (`migrate`). A
   * command needs tables of its own version (`same`), or creates them in an empty database
   * (`create`); a check accepts older ones (`known`). Only the command that moves a data folder
   * into the database opens it before the transfer has ended (`transfer`).
   */
  version: 'migrate' | 'create' | 'same' | 'known' | 'transfer'
  signal?: AbortSignal | undefined
  /** Called when the database cannot be reached and another attempt follows. */
  onWait?: ((reason: { database: string; error: string }) => void) | undefined
  onMigration?: OnMigration | undefined
  /** Called before tables are created in an empty database. */
  onEmpty?: (() => Promise<void>) | undefined
  /** Called with errors of connections that no statement uses. */
  onIdleError?: ((error: Error) => void) | undefined
  /** Called when the space of deleted rows could not be freed; another attempt follows. */
  onVacuumError?: ((error: unknown) => void) | undefined
}

/** The share of the connections that is kept for lists, so that they delay nothing else. */
const READ_POOL_SHARE = 0.3
/** The pause before another attempt to reach the database. */
const RETRY_MS = 500
/** PostgreSQL 15, as the server reports it. */
const MIN_VERSION = 150_000

/** Lists walk indexes in their order and stop at the end of a page; nothing is sorted. */
const READ_POOL_SETTINGS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_incremental_sort: 'off',
  max_parallel_workers_per_gather: '0',
  default_transaction_read_only: 'on',
}

const RIGHTS_REMEDY = 'its user must be able to create tables there, and own them'

/**
 * Opens the database, and migrates it if `version` says so. Waits for a database that cannot be
 * reached, as when both machines restart after a power cut. Throws an error that names host and
 * database.
 */
export async function openPostgres(
  settings: DatabaseConfig,
  options: OpenPostgresOptions,
): Promise<Database & { close(): Promise<void> }> {
  const { url, connections, statementSeconds } = settings
  const readConnections = Math.max(1, Math.floor(connections * READ_POOL_SHARE))
  const shared = { url, statementSeconds, onIdleError: options.onIdleError }
  const main = openPool({ ...shared, connections: Math.max(1, connections - readConnections) })
  const reader = openPool({ ...shared, connections: readConnections, settings: READ_POOL_SETTINGS })
  const jobNotifier = createJobNotifier(url, main)
  const vacuumOptions = { url, connections: 1, statementSeconds: 0 }
  const vacuum = createVacuum({
    main,
    open: () => openPool({ ...vacuumOptions, onIdleError: options.onIdleError }),
    onError: (error) => options.onVacuumError?.(error),
  })
  const close = async () => {
    await jobNotifier.close()
    await vacuum.close()
    await Promise.all([main.destroy(), reader.destroy()])
  }
  try {
    await waitUntilAvailable(main, settings, options)
    await prepareSchema(main, settings, options)
    const runMaintenance = async () => {
      vacuum.runIfDue()
      await sumByteChanges(main)
    }
    const dialect = { ...postgresDialect, eraseDeletedRows: async () => vacuum.request() }
    const handles = { sql: main, reader, jobNotifier }
    return { ...handles, dialect, isShared: true, runMaintenance, close }
  } catch (error) {
    await close()
    throw isRefusal(error) ? openingError(url, `${messageOf(error)}; ${RIGHTS_REMEDY}`) : error
  }
}

function openPool({
  onIdleError,
  ...options
}: Omit<PostgresPoolOptions, 'onIdleError'> & {
  onIdleError: PostgresPoolOptions['onIdleError'] | undefined
}): Kysely<Tables> {
  const pool = createPool({ ...options, ...(onIdleError && { onIdleError }) })
  const plugins = [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })]
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins })
}

/**
 * Waits until the database responds; throws if it does not within the time that the settings allow.
 */
async function waitUntilAvailable(
  main: Kysely<Tables>,
  { url, startSeconds }: DatabaseConfig,
  { version, signal, onWait }: OpenPostgresOptions,
): Promise<void> {
  const until = performance.now() + startSeconds * 1000
  for (let tries = 1; ; tries++) {
    try {
      return await requireFeatures(main, { isServer: version === 'migrate' })
    } catch (error) {
      const reason = error instanceof AppError ? error.cause : error
      const text = messageOf(reason)
      if (!isUnavailable(reason) || performance.now() >= until) throw openingError(url, text)
      if (tries === 1) onWait?.({ database: databaseAddress(url), error: text })
      await delay(RETRY_MS, undefined, { signal })
    }
  }
}

function openingError(url: string, reason: string): Error {
  return new Error(
    `Cannot open the database ${databaseAddress(url)}: ${reason} (STENO_DATABASE_URL)`,
  )
}

async function requireFeatures(
  database: Kysely<Tables>,
  { isServer }: { isServer: boolean },
): Promise<void> {
  const { rows } = await sql<{ version: string; encoding: string; read_only: string }>`
    select current_setting('server_version_num') as version,
      current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only') as read_only`.execute(database)
  const { version, encoding, read_only } = rows[0]!
  if (Number(version) < MIN_VERSION) throw new Error('it is older than PostgreSQL 15')
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding}, not UTF8`)
  if (isServer && read_only === 'on') throw readOnlyError()
}

async function prepareSchema(
  main: Kysely<Tables>,
  { url }: DatabaseConfig,
  { version, signal, onMigration, onEmpty }: OpenPostgresOptions,
): Promise<void> {
  const schemaVersion = await readSchemaVersion(main)
  if (version !== 'transfer') await refuseTransfer(main)
  if (isCurrentVersion(schemaVersion)) return
  if (version === 'known') return
  const isCreated = version === 'create' || version === 'transfer'
  if (version === 'same' || (isCreated && schemaVersion !== undefined))
    throw wrongVersion(schemaVersion, POSTGRES_VERSION)
  if (schemaVersion === undefined) await onEmpty?.()
  // A migration may take longer than any statement of a request.
  const unlimited = { idle_in_transaction_session_timeout: '0' }
  const migratorOptions = { url, connections: 1, statementSeconds: 0, settings: unlimited }
  const migrator = openPool({ ...migratorOptions, onIdleError: undefined })
  try {
    await migrate(migrator, { signal, onBegin: onMigration })
  } finally {
    await migrator.destroy()
  }
}

/** Throws while a data folder is being moved into the database. */
async function refuseTransfer(main: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass('store_move') is not null as found`.execute(main)
  if (!rows[0]!.found) return
  throw new Error(
    "Cannot open the database: a data folder is being moved into it; 'steno store migrate' finishes that",
  )
}

/** Maximum changes that one statement sums up. */
const BYTE_CHANGES_PER_STATEMENT = 20_000

/**
 * Replaces recorded changes of what accounts store by their sums. A concurrent reader sees either
 * the changes or the sums.
 */
async function sumByteChanges(main: Kysely<Tables>): Promise<void> {
  await sql`with gone as (
      delete from account_byte_changes where ctid in (
        select ctid from account_byte_changes limit ${BYTE_CHANGES_PER_STATEMENT} for update skip locked)
      returning account, bytes)
    insert into account_byte_changes (account, bytes)
      select account, sum(bytes) from gone group by account having sum(bytes) <> 0`.execute(main)
}

/** Returns the host, port and name of a database: the parts of its URL that may be shown. */
export function databaseAddress(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = hostname || searchParams.get('host') || 'localhost'
  return `${decodeURIComponent(pathname.slice(1)) || 'postgres'} at ${host}:${port || 5432}`
}
