import type { Log } from '../../log.ts'

/** What a migration reports, and what ends it early. */
export type MigrateOptions = {
  /** Ends the migration between two statements; the database then stays as it was. */
  signal?: AbortSignal | undefined
  progress?: MigrationProgress | undefined
}

/** What the rewriting of rows reports and heeds. */
export type FillOptions = {
  signal?: AbortSignal | undefined
  /** Called with the number of rows that are done. */
  onProgress?: ((rows: number) => void) | undefined
}

/** Receives how a migration of an older database goes on. */
export type MigrationProgress = {
  begin(versions: { from: number; to: number }): void
  /** The rows of the version `version` that were rewritten so far. */
  rows(version: number, rows: number): void
  end(): void
}

/** One line for so many rows: a line every few seconds. */
const ROWS_PER_LINE = 20_000

/** Writes the progress of a migration to the log: its begin, a line for every 20,000 rows, its end. */
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
