import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { statements } from '../../src/storage/database/migrations/0001-jobs.ts'
import { startSteno } from '../support/cli/run-steno.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

/** Jobs whose metadata take this program some seconds to index. */
const JOBS = 60_000

test('SIGTERM during a migration ends it with the database unchanged', async (t) => {
  const folder = await makeFolder(t)
  const database = new DatabaseSync(join(folder, 'steno.sqlite'))
  database.exec('begin')
  for (const statement of statements) database.exec(statement)
  database.exec(`create table schema_version (version integer not null);
    insert into schema_version values (1);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${JOBS})
    insert into jobs (id, account, kind, status, created_at, custom_metadata, run_after)
      select 'job-' || i, 'acme', 'pre-recorded', 'done', i, '{"a":' || i || ',"b":1}', 0 from n;
    commit`)
  database.close()

  const env = { STENO_DATA_DIR: folder, STENO_PORT: '0', STENO_WORKERS: '1', STENO_LIVE_SLOTS: '0' }
  const child = startSteno(['serve'], { env })
  t.after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    lines.push(...String(text).trim().split('\n'))
    if (String(text).includes('"rows":20000')) child.kill('SIGTERM')
  })
  const [code] = await new Promise<unknown[]>((resolve) => {
    child.once('close', (...ended) => resolve(ended))
  })
  assert.deepEqual([code, stdout], [0, ''], lines.join('\n'))
  const messages = lines.map((line) => JSON.parse(line).msg)
  assert.ok(messages.includes('migrating the database, this may take minutes'))
  assert.equal(messages.at(-1), 'stopped during startup')
  const after = new DatabaseSync(join(folder, 'steno.sqlite'))
  t.after(() => after.close())
  assert.deepEqual({ ...after.prepare('select version from schema_version').get() }, { version: 1 })
})
