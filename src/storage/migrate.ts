import { type Kysely, sql } from 'kysely'
import * as jobs from './migrations/0001-jobs.ts'
import * as keys from './migrations/0002-keys.ts'
import * as jobLists from './migrations/0003-job-lists.ts'
import * as liveSessions from './migrations/0004-live-sessions.ts'
import * as deliveries from './migrations/0005-deliveries.ts'
import * as redactedSound from './migrations/0006-redacted-sound.ts'
import * as liveSessionKeys from './migrations/0007-live-session-keys.ts'
import * as bytes from './migrations/0008-bytes.ts'

/** What a version changes: the tables, then what lies in them. */
type Migration = {
  statements: readonly string[]
  fill?: <T>(tx: Kysely<T>) => Promise<void>
}

/** Numbered from 1 by their place; never edited, never reordered. */
const migrations: readonly Migration[] = [
  jobs,
  keys,
  jobLists,
  liveSessions,
  deliveries,
  redactedSound,
  liveSessionKeys,
  bytes,
]

type Version = { schema_version: { version: number } }

/**
 * Brings the tables to the version of this code, in one transaction: a start that is killed here
 * begins again from where it was. A database of a newer version is refused, untouched.
 */
export async function migrate<T>(database: Kysely<T>): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_version (version integer not null)`.execute(tx)
    const current = await readVersion(tx)
    if (current !== undefined && current > migrations.length) throw wrongVersion(current)
    for (const { statements, fill } of migrations.slice(current ?? 0)) {
      for (const statement of statements) await sql.raw(statement).execute(tx)
      await fill?.(tx)
    }
    const versions = tx as unknown as Kysely<Version>
    if (current === undefined)
      await versions.insertInto('schema_version').values({ version: migrations.length }).execute()
    else await versions.updateTable('schema_version').set({ version: migrations.length }).execute()
  })
}

/** Throws unless the database has the version of this code, or one that it knows; changes nothing. */
export async function checkVersion<T>(database: Kysely<T>, which: 'same' | 'known'): Promise<void> {
  const version = await readVersion(database)
  if (version === migrations.length) return
  if (which === 'same' || version === undefined || version > migrations.length) {
    throw wrongVersion(version)
  }
}

async function readVersion<T>(database: Kysely<T>): Promise<number | undefined> {
  const versions = database as unknown as Kysely<Version>
  const row = await versions.selectFrom('schema_version').select('version').executeTakeFirst()
  return row?.version
}

function wrongVersion(version: number | undefined): Error {
  return new Error(
    `Cannot open the database: it has version ${version}, this program knows version ${migrations.length}`,
  )
}
