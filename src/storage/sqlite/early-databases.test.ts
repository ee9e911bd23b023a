import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { openTestStorage } from '../../../test/support/test-storage.ts'
import { createLog } from '../../log.ts'
import { databaseFile } from '../data-folder.ts'
import { openStorage } from '../storage.ts'

/** Returns what a database is made of: every table, index and trigger as SQL, without blanks. */
function schemaOf(folder: string): string[] {
  const database = new DatabaseSync(databaseFile(folder))
  const rows = database.prepare('select name, sql from sqlite_schema').all() as {
    name: string
    sql: string | null
  }[]
  database.close()
  return rows.map(({ name, sql }) => `${name} ${sql?.replace(/\s+/g, '')}`).sort()
}

test('a database from before migrations were edited becomes like a new one', async (t) => {
  const { folder, close } = await openTestStorage(t)
  await close()
  const expected = schemaOf(folder)
  const database = new DatabaseSync(databaseFile(folder))
  database.exec(`
    update schema_version set version = 19;
    drop table shares; drop index deliveries_failed; drop index jobs_by_time; drop index jobs_by_kind;
    create index deliveries_failed on deliveries (account, ended_at) where state = 'failed';
    create index jobs_by_time on jobs (account, created_at desc, id desc);
    create index jobs_by_kind on jobs (account, kind, created_at desc, id desc);
    alter table endpoints drop column last_failure_at;
    drop trigger search_old_job;
    create trigger search_old_job after delete on jobs begin
      delete from search_queue where job_id = old.id;
    end;`)
  database.close()
  const storage = await openStorage({ folder, log: createLog('silent') })
  await storage.close()
  // A column that was added stands last.
  const inAnyOrder = (lines: string[]) => {
    return lines.map((line) => (line.startsWith('endpoints') ? [...line].sort().join('') : line))
  }
  assert.deepEqual(inAnyOrder(schemaOf(folder)), inAnyOrder(expected))
})
