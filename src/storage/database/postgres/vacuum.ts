import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Frees the space of deleted rows sooner than the database does on its own. */
export type Vacuum = {
  /** Requests a vacuum, because rows were deleted whose data must be erased. */
  request(): void
  /** Vacuums in the background, if that was requested and the last vacuum is long enough ago. */
  runIfDue(): void
  /** Cancels a running vacuum; the space that it has freed stays free. */
  close(): Promise<void>
}

/** The dependencies of a vacuum. `open` opens a connection whose statements may take any time. */
export type VacuumOptions = {
  main: Kysely<Tables>
  open(): Kysely<Tables>
  onError(error: unknown): void
  pauseMs?: number
}

/** The tables with data of users: parameters, names, addresses, audio and words. */
export const VACUUMED_TABLES = [
  'jobs',
  'files',
  'job_metadata',
  'deliveries',
  'delivery_attempts',
  'live_batches',
  'idempotency_keys',
  'transcript_edits',
  'utterances',
]
/** The pause between two vacuums, each of which reads the pages that changed since the last one. */
const PAUSE_MS = 300_000

/** Creates the vacuum of a process. */
export function createVacuum({ main, open, onError, pauseMs = PAUSE_MS }: VacuumOptions): Vacuum {
  let isRequested = false
  let lastAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined
  let pid: number | undefined
  let isClosed = false

  async function run(): Promise<void> {
    const database = open()
    try {
      await database.connection().execute(async (connection) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(
          connection,
        )
        pid = rows[0]!.pid
        for (const table of VACUUMED_TABLES) {
          if (isClosed) return
          // A table that another node vacuums is left to it.
          await sql`vacuum (skip_locked) ${sql.table(table)}`.execute(connection)
        }
      })
    } finally {
      pid = undefined
      await database.destroy()
    }
  }

  return {
    request() {
      isRequested = true
    },
    runIfDue() {
      if (!isRequested || running || performance.now() - lastAt < pauseMs) return
      isRequested = false
      running = run()
        .catch((error) => {
          isRequested = true
          if (!isClosed) onError(error)
        })
        .finally(() => {
          lastAt = performance.now()
          running = undefined
        })
    },
    async close() {
      isClosed = true
      if (pid !== undefined) {
        await sql`select pg_cancel_backend(${pid}::integer)`.execute(main).catch(onError)
      }
      await running
    },
  }
}
