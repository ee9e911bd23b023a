import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { sqliteSchema } from '../../../../test/support/storage/databases/sqlite-schema.ts'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { databaseFile } from '../../data-folder/data-folder.ts'
import { openStorage } from '../../storage.ts'

test('a database from before edited migrations gets the current schema', async (t) => {
  const { folder, close } = await openTestStorage(t)
  await close()
  const expected = sqliteSchema(folder)
  const database = new DatabaseSync(databaseFile(folder))
  database.exec(`
    update schema_version set version = 19;
    alter table jobs drop column request_warnings;
    drop index utterances_by_speaker; alter table utterances drop column speaker_name;
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
  assert.deepEqual(sqliteSchema(folder), expected)
})
