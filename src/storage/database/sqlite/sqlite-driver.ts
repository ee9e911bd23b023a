import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { PipelinedConnection } from '../statement.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/**
 * The one connection that writes, and one that reads beside it: a long query does not block writes.
 */
export type SqliteConnections = { writer: SqliteConnection; reader: SqliteConnection }

/** Creates Kysely's driver over connections that live in threads. */
export function createSqliteDriver(connections: SqliteConnections): Dialect {
  return {
    createAdapter: () => new ThreadedAdapter(),
    createDriver: () => createDriver(connections),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Statements may run concurrently; the driver itself isolates a transaction. */
class ThreadedAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** One use of the database: a statement, or a transaction with all its statements. */
type SqliteSession = PipelinedConnection & { setInTransaction(value: boolean): void }

function createDriver({ writer, reader }: SqliteConnections): Driver {
  /** Resolves when the running transaction has ended. */
  let busy: PromiseWithResolvers<void> | undefined

  function openSession(): SqliteSession {
    let inTransaction = false
    return {
      setInTransaction(value) {
        inTransaction = value
      },
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        // Outside a transaction, a query needs only committed data, which the reader sees.
        const isRead = !inTransaction && /^\s*select\b/i.test(sql)
        while (busy && !inTransaction && !isRead) await busy.promise
        const connection = isRead ? reader : writer
        const { rows, changes } = await connection.run(sql, parameters, { inTransaction })
        return { rows: rows as R[], numAffectedRows: BigInt(changes) }
      },
      async runBatch(queries) {
        while (busy) await busy.promise
        const batch = queries.map(({ sql, parameters }) => ({ sql, parameters }))
        const outcomes = await writer.runBatch(batch)
        return outcomes.map(({ rows }) => rows)
      },
      // biome-ignore lint/correctness/useYield: it only refuses.
      async *streamQuery() {
        throw new Error('SQLite statements are not streamed here')
      },
    }
  }

  function release(connection: DatabaseConnection): void {
    const session = connection as SqliteSession
    session.setInTransaction(false)
    busy?.resolve()
    busy = undefined
  }

  return {
    init: async () => {},
    acquireConnection: async () => openSession(),
    releaseConnection: async () => {},
    async beginTransaction(connection) {
      while (busy) await busy.promise
      busy = Promise.withResolvers()
      try {
        // A deferred transaction fails at its first write if another process has written meanwhile.
        await writer.run('begin immediate', [])
      } catch (error) {
        release(connection)
        throw error
      }
      const session = connection as SqliteSession
      session.setInTransaction(true)
    },
    async commitTransaction(connection) {
      // The caller rolls back a commit that fails.
      await writer.run('commit', [])
      release(connection)
    },
    async rollbackTransaction(connection) {
      await writer.run('rollback', []).finally(() => release(connection))
    },
    async destroy() {
      await reader.close()
      // The last connection to close folds the write-ahead log into the file.
      await writer.close()
    },
  }
}
