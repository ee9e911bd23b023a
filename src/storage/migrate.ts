import { type Kysely, sql } from 'kysely'
import { statements as jobs } from './migrations/0001-jobs.ts'

/** Numbered from 1 by their place; never edited, never reordered. */
const migrations: readonly (readonly string[])[] = [jobs]

type Version = { schema_version: { version: number } }

/**
 * Brings the tables to the version of this code, in one transaction: a start that is killed here
 * begins again from where it was. A database of a newer version is refused, untouched.
 */
export async function migrate<T>(database: Kysely<T>): Promise<void> {
  await database.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_version (version integer not null)`.execute(tx)
    const versions = tx as unknown as Kysely<Version>
    const row = await versions.selectFrom('schema_version').select('version').executeTakeFirst()
    const current = row?.version ?? 0
    if (current > migrations.length) {
      throw new Error(
        `Cannot open the database: it has version ${current}, this program knows versions up to ${migrations.length}`,
      )
    }
    for (const statements of migrations.slice(current)) {
      for (const statement of statements) await sql.raw(statement).execute(tx)
    }
    if (!row) await versions.insertInto('schema_version').values({ version: 0 }).execute()
    await versions.updateTable('schema_version').set({ version: migrations.length }).execute()
  })
}
