import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, type PoolClient, types } from 'pg'
import { MAX_TIMER_MS } from '../../../clock.ts'
import { isBroken, postgresError } from './postgres-error.ts'

/** How connections are made. */
export type PostgresPoolOptions = {
  url: string
  /** Connections at a time; further statements wait for one. */
  connections: number
  /** Maximum seconds that one statement may take; 0 means no limit. */
  statementSeconds: number
  /** Server settings of every connection, by name. */
  settings?: Readonly<Record<string, string>>
  /** Called with errors of connections that no statement uses. */
  onIdleError?: (error: Error) => void
}

/** How long a statement waits for a connection, new or free. */
const CONNECT_MS = 10_000
/** How long an unused connection stays open. */
const IDLE_MS = 60_000
/** A transaction that is idle for this long is ended: others may wait for its locks. */
const IDLE_TRANSACTION_MS = 15_000
/**
 * A statement that exceeds its limit by this time closes its connection: the server that would have
 * ended the statement cannot be reached.
 */
const UNREACHABLE_MS = 5000
/** Maximum further connections that are tried in place of a lost one: they may be lost as well. */
const MAX_RECONNECTS = 3

/** Object ids of types (pg_type.dat) that are read as numbers: counts, sums and times. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700])
/** Object ids of JSON types, whose values stay text. */
const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802])

const asText = (text: string) => text

/** Reads columns as SQLite's driver does: 64-bit integers and sums as numbers, JSON as text. */
const rowTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary' && NUMBERS.has(oid)) return Number
    if (format !== 'binary' && JSON_TYPES.has(oid)) return asText
    return types.getTypeParser(oid, format)
  },
}

const DEFAULTS = {
  // Statements are short: compiling one takes longer than running it.
  jit: 'off',
  // Where this level is not enough, locks give the guarantees.
  default_transaction_isolation: 'read\\ committed',
  idle_in_transaction_session_timeout: String(IDLE_TRANSACTION_MS),
}

/**
 * Creates connections as Kysely uses them. A `select` outside a transaction that loses its
 * connection is repeated once on another one. Errors are mapped to the error table.
 */
export function createPool(options: PostgresPoolOptions): PostgresPool {
  const { url, connections, statementSeconds, onIdleError } = options
  const limitMs = statementSeconds * 1000
  const settings = { ...DEFAULTS, statement_timeout: String(limitMs), ...options.settings }
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    application_name: 'steno',
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    types: rowTypes as typeof types,
    ...(limitMs > 0 && { query_timeout: Math.min(limitMs + UNREACHABLE_MS, MAX_TIMER_MS) }),
  })
  // A connection that breaks while idle is replaced at its next use.
  pool.on('error', (error) => onIdleError?.(error))
  return {
    options: pool.options,
    async connect() {
      return withReconnect(await connect(pool), () => connect(pool))
    },
    end: () => pool.end(),
  }
}

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    const client = await pool.connect()
    if (client.listenerCount('error') === 0) client.on('error', () => {})
    return client
  } catch (error) {
    throw postgresError(error)
  }
}

/**
 * Matches a `select`. If it matches no word of `WRITES`, it may be repeated whatever the outcome of
 * the first attempt was.
 */
const READS = /^\s*(select|with\s+(recursive\s+)?\w+\s*(\([^)]*\))?\s+as\s*\(\s*select)\b/i
const WRITES = /\b(insert|update|delete|nextval|pg_advisory_\w+)\b/i

function withReconnect(
  first: PoolClient,
  reconnect: () => Promise<PoolClient>,
): PostgresPoolClient {
  let client = first
  let isInTransaction = false
  let isLost = false

  async function run<R>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<PostgresQueryResult<R>> {
    const result = await client.query(sql, parameters.map(replaceNul))
    return result as unknown as PostgresQueryResult<R>
  }

  async function query<R>(sql: string, parameters: readonly unknown[]) {
    if (sql === 'begin') isInTransaction = true
    // The transaction ended with its connection.
    if (sql === 'rollback' && isLost) return { command: 'ROLLBACK', rowCount: 0, rows: [] } as const
    try {
      return await run<R>(sql, parameters)
    } catch (error) {
      if (isBroken(error)) {
        isLost = true
        if (!isInTransaction && READS.test(sql) && !WRITES.test(sql)) {
          return await runAgain<R>(sql, parameters)
        }
      }
      throw postgresError(error)
    }
  }

  /** Runs a statement on another connection; the first ones may be lost as well, without notice. */
  async function runAgain<R>(sql: string, parameters: readonly unknown[]) {
    for (let remainingAttempts = MAX_RECONNECTS; ; remainingAttempts--) {
      client.release(true)
      client = await reconnect()
      try {
        const result = await run<R>(sql, parameters)
        isLost = false
        return result
      } catch (error) {
        if (!isBroken(error)) isLost = false
        if (!isLost || remainingAttempts === 0) throw postgresError(error)
      }
    }
  }

  return {
    query: query as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy || isLost),
  }
}

/**
 * Replaces NUL characters, which PostgreSQL cannot store in text. The response of a receiver may
 * contain them.
 */
function replaceNul(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\uFFFD')
    : value
}
