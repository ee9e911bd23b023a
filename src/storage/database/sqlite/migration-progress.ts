import type { Log } from '../../../observability/log.ts'

/** The options of a migration: a signal that ends it early, and a receiver of its progress. */
export type MigrateOptions = {
  /** Ends the migration between two statements; the database then stays as it was. */
  signal?: AbortSignal | undefined
  progress?: MigrationProgress | undefined
}

/** The options of rewriting rows. */
export type FillOptions = {
  signal?: AbortSignal | undefined
  /** Called with the number of rows done. */
  onProgress?: ((rows: number) => void) | undefined
}

/** Receives the progress of migrating an older database. */
export type MigrationProgress = {
  begin(versions: { from: number; to: number }): void
  /** Reports how many rows were rewritten so far for the version `version`. */
  rows(version: number, rows: number): void
  end(): void
}

/** One log line for this many rows: a line every few seconds. */
const ROWS_PER_LINE = 20_000

/**
 * Writes the progress of a migration to the log: its start, a line for every 20,000 rows, its end.
 */
export function logProgress(log: Log): MigrationProgress {
  const startedAt = performance.now()
  let logged = 0
  return {
    begin: (versions) => log.info(versions, 'migrating the database, this may take minutes'),
    rows(version, rows) {
      if (rows < logged) logged = 0
      if (rows - logged < ROWS_PER_LINE) return
      logged = rows
      log.info({ version, rows }, 'migrating the database')
    },
    end() {
      const seconds = Math.round(performance.now() - startedAt) / 1000
      log.info({ seconds }, 'migrated the database')
    },
  }
}
