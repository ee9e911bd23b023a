import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Frees the space of deleted rows sooner than the database does on its own. */
export type Vacuum = {
  /** Records that rows were deleted whose data must be erased. */
  note(): void
  /** Vacuums in the background, if that was recorded and the last vacuum is long enough ago. */
  runIfDue(): void
  /** Ends a vacuum that runs; what it has freed stays freed. */
  close(): Promise<void>
}

/** What such a vacuum needs. `open` opens a connection whose statements may take any time. */
export type VacuumOptions = {
  main: Kysely<Tables>
  open(): Kysely<Tables>
  onError(error: unknown): void
  pauseMs?: number
}

/** The tables with what users say, in parameters, names, addresses, audio and words. */
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
/** Each time reads the pages that changed since the last one. */
const PAUSE_MS = 300_000

/** Creates the vacuum of a process. */
export function createVacuum({ main, open, onError, pauseMs = PAUSE_MS }: VacuumOptions): Vacuum {
  let isNoted = false
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
          // A table that another server vacuums is left to it.
          await sql`vacuum (skip_locked) ${sql.table(table)}`.execute(connection)
        }
      })
    } finally {
      pid = undefined
      await database.destroy()
    }
  }

  return {
    note() {
      isNoted = true
    },
    runIfDue() {
      if (!isNoted || running || performance.now() - lastAt < pauseMs) return
      isNoted = false
      running = run()
        .catch((error) => {
          isNoted = true
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
