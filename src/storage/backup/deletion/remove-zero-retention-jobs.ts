import { DatabaseSync } from 'node:sqlite'
import { SQLITE_VERSION } from '../../database/sqlite/migrate.ts'

const jobs = 'select id from jobs where zero_retention = 1'
/**
 * The rows of these jobs that triggers do not delete. Attempts come first, because they refer to
 * deliveries.
 */
const dependent = [
  `delete from delivery_attempts
    where delivery_id in (select id from deliveries where job_id in (${jobs}))`,
  `delete from deliveries where job_id in (${jobs})`,
  `delete from job_metadata where id in (${jobs})`,
  `delete from live_sessions where job_id in (${jobs})`,
  `delete from transcript_edits where job_id in (${jobs})`,
  `delete from shares where job_id in (${jobs})`,
  `delete from idempotency_keys where job_id in (${jobs})`,
]

/**
 * Deletes the zero-retention jobs from a copy of a database, in any state, and the uploads of these
 * accounts that no other job uses: a snapshot would keep them.
 */
export function removeZeroRetentionJobs(file: string, accounts: 'all' | readonly string[]): void {
  const database = new DatabaseSync(file)
  try {
    const { version } = database.prepare('select version from schema_version').get() as {
      version: number
    }
    if (version < SQLITE_VERSION) return
    database.exec('pragma journal_mode = delete; pragma secure_delete = on; begin')
    database.exec(`create temp table unkept_files as select distinct file_id as id from jobs
      where zero_retention = 1 and file_id is not null`)
    for (const statement of dependent) database.exec(statement)
    database.exec('delete from jobs where zero_retention = 1')
    const isUnused = 'not exists (select 1 from jobs where file_id = files.id)'
    database.exec(`delete from files where ${isUnused} and id in (select id from unkept_files)`)
    if (accounts === 'all') database.exec(`delete from files where ${isUnused}`)
    else {
      const uploads = database.prepare(`delete from files where ${isUnused} and account = ?`)
      for (const account of accounts) uploads.run(account)
    }
    database.exec('commit; pragma journal_mode = wal')
  } finally {
    database.close()
  }
}
