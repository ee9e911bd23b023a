// Two servers on one PostgreSQL database and one data folder; one of them is killed.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openPostgres } from '../../../../src/storage/database/postgres/postgres.ts'
import { createToneWav } from '../../../support/audio/recordings.ts'
import { openReceiver } from '../../../support/delivery/receiver.ts'
import { audioForm, call, type Uploaded } from '../../../support/net/http-client.ts'
import { type ChildServer, kill, startChild } from '../../../support/server/child-server.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'

const JOBS = 12

type Job = { id: string; status: string; completed_at: string | null }

async function create(server: ChildServer, n: number, callback: string): Promise<string> {
  const form = audioForm(createToneWav(5 + n, 1))
  const { body } = await call<Uploaded>(server, '/v2/upload', { method: 'POST', body: form })
  const json = {
    audio_url: body.audio_url,
    callback: true,
    callback_config: { url: `${callback}/callback` },
  }
  return (await call<{ id: string }>(server, '/v2/pre-recorded', { json })).body.id
}

async function list(server: ChildServer): Promise<Job[]> {
  const { body } = await call<{ items: Job[] }>(server, '/v2/pre-recorded?limit=100')
  return body.items
}

/** Starts two servers that share a database, a folder and a receiver of all events. */
async function startTwo(t: TestContext) {
  const folder = await makeFolder(t)
  const settings = await createDatabase()
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const gate = join(await makeFolder(t), 'open')
  const env = {
    STENO_DATABASE_URL: settings.url,
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    STENO_WEBHOOKS: `test=${receiver.url}/webhook`,
    STENO_WORKERS: '2',
    // Both servers have jobs until the test opens it.
    FAKE_GATE: gate,
    STENO_LOG_LEVEL: 'fatal',
  }
  const started = await Promise.all([1, 2].map(() => startChild(t, folder, { env })))
  const [first, second] = started as [ChildServer, ChildServer]
  return { first, second, settings, receiver, gate }
}

test('after a kill the other server ends each job once with events in order', {
  skip: noPostgres,
}, async (t) => {
  const { first, second, settings, receiver, gate } = await startTwo(t)
  const ids: string[] = []
  for (let n = 0; n < JOBS; n++) {
    ids.push(await create(n % 2 ? first : second, n, receiver.url))
  }
  // Both servers show the same list.
  assert.equal((await list(first)).length, JOBS)
  assert.equal((await list(second)).length, JOBS)
  const database = await openPostgres(settings, { version: 'same' })
  t.after(() => database.close())
  const owners = async () => {
    const { rows } = await sql<{ owner: string }>`select distinct lease_owner as owner from jobs
      where status = 'processing'`.execute(database.sql)
    return rows
  }
  while ((await owners()).length < 2) await delay(20)
  const { rows } = await sql<{ id: string }>`
    select id from owners where pid = ${first.process.pid}`.execute(database.sql)
  await kill(first)
  const held = await sql<{ id: string }>`select id from jobs
    where status = 'processing' and lease_owner = ${rows[0]!.id}`.execute(database.sql)
  assert.ok(held.rows.length > 0, 'it was killed with jobs under way')
  // As if its last heartbeat had been long ago.
  await sql`update owners set heartbeat_at = 0 where id = ${rows[0]!.id}`.execute(database.sql)
  await writeFile(gate, '')

  while (!(await list(second)).every(({ completed_at }) => completed_at !== null)) await delay(100)
  const jobs = await list(second)
  assert.deepEqual(jobs.map(({ id }) => id).sort(), ids.toSorted())
  assert.ok(jobs.every(({ status }) => status === 'done'))
  const attempts = await sql<{ attempt: number }>`select attempt from jobs`.execute(database.sql)
  assert.ok(
    attempts.rows.every(({ attempt }) => attempt === 1),
    'a lost server costs no attempt',
  )

  // Each event once, except those whose answer the killed server did not get to note.
  const distinct = (path: string) => {
    return new Map(receiver.at(path).map((one) => [one.headers['webhook-id'], one]))
  }
  while (distinct('/webhook').size < 2 * JOBS || distinct('/callback').size < JOBS) await delay(50)
  await delay(500)
  assert.deepEqual([distinct('/webhook').size, distinct('/callback').size], [2 * JOBS, JOBS])
  for (const id of ids) {
    const events = [...distinct('/webhook').values()]
      .map(({ body }) => JSON.parse(body) as { event: string; payload: { id: string } })
      .filter(({ payload }) => payload.id === id)
      .map(({ event }) => event)
    assert.deepEqual(events, ['transcription.created', 'transcription.success'])
  }
})
