// Two servers on one PostgreSQL database and one S3 bucket, each with a data folder of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openPostgres } from '../../../src/storage/database/postgres/postgres.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { makeLiveAudio, recordingOf, streamOf } from '../../support/live/live-audio.ts'
import { audioForm, call, type Uploaded } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { createDatabase, noPostgres } from '../../support/storage/databases/test-postgres.ts'
import { type S3Fault, startFaultyS3 } from '../../support/storage/objects/faulty-s3.ts'
import { noS3, s3Settings, s3Url, testS3 } from '../../support/storage/objects/test-s3.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

type Job = { id: string; status: string; completed_at: string | null; error_code?: number | null }

/** With its word times longer than a row takes, so each result is an object. */
const LONG_TEXT = 'hello world '.repeat(3000)

async function upload(server: ChildServer, n: number): Promise<string> {
  for (;;) {
    const form = audioForm(createToneWav(5 + n, 1))
    const { status, body } = await call<Uploaded>(server, '/v2/upload', {
      method: 'POST',
      body: form,
    })
    if (status === 200) return body.audio_url
    assert.ok(status === 503 || status === 500, `an upload is refused with ${status}`)
    await delay(200)
  }
}

async function create(server: ChildServer, address: string, callback: string): Promise<string> {
  const json = {
    audio_url: address,
    callback: true,
    callback_config: { url: `${callback}/callback` },
  }
  for (;;) {
    const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    if (status === 201) return body.id
    assert.equal(status, 503)
    await delay(200)
  }
}

/** Lists jobs; undefined when the server cannot. */
async function list(server: ChildServer, query: string): Promise<Job[] | undefined> {
  const { body } = await call<{ items?: Job[] }>(server, `/v2/pre-recorded?${query}`)
  return body.items
}

async function untilEnded(server: ChildServer, count: number): Promise<Job[]> {
  for (;;) {
    // Their long results are read once.
    const open = await list(server, 'status=queued&status=processing&limit=1')
    const jobs = open?.length === 0 ? await list(server, 'limit=100') : undefined
    if (jobs?.length === count && jobs.every((job) => job.completed_at !== null)) return jobs
    await delay(100)
  }
}

/** Serves recordings of as many seconds as their address says. */
async function serveAudio(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const seconds = /^\/(\d+)\.wav$/.exec(request.url!)?.[1]
    // A client of another test may still ask for what listened at this port before.
    if (!seconds) return void response.writeHead(404).end()
    response.end(createToneWav(Number(seconds), 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts two servers that share a database, a bucket behind a proxy, and a receiver. */
async function startTwo(t: TestContext, { count = 2, text = LONG_TEXT, gate = '' } = {}) {
  const database = await createDatabase()
  const proxy = await startFaultyS3(t, (await testS3()).endpoint)
  const settings = await s3Settings({ endpoint: proxy.endpoint })
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const env = {
    STENO_DATABASE_URL: database.url,
    STENO_OBJECT_STORE: s3Url(settings),
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    STENO_WORKERS: '2',
    FAKE_BATCH_MS: '200',
    FAKE_GATE: gate,
    FAKE_TEXT: text,
    STENO_LOG_LEVEL: 'fatal',
  }
  const folders = await Promise.all(Array.from({ length: count }, () => makeFolder(t)))
  const started = await Promise.all(folders.map((folder) => startChild(t, folder, { env })))
  return { servers: started as ChildServer[], folders, database, settings, proxy, receiver }
}

const skip = noPostgres || noS3

test('jobs uploaded to one server run on another with a separate data folder', {
  skip,
}, async (t) => {
  // Both servers have jobs until the test opens it.
  const gate = join(await makeFolder(t), 'open')
  const { servers, folders, database, receiver } = await startTwo(t, { gate })
  const [first, second] = servers as [ChildServer, ChildServer]
  const audio = await serveAudio(t)
  const opened = await openPostgres(database, { version: 'same' })
  t.after(() => opened.close())
  const busy = async () => {
    const { rows } = await sql<{ owner: string }>`select distinct lease_owner as owner from jobs
      where status = 'processing'`.execute(opened.sql)
    return rows.length
  }
  const ids: string[] = []
  // Alone, the first server takes up to sixteen short recordings.
  for (let n = 0; n < 10 || (await busy()) < 2; n++) {
    const address = n % 2 ? `${audio}/${10 + n}.wav` : await upload(first, n)
    ids.push(await create(first, address, receiver.url))
  }
  // As if its last heartbeat had been long ago.
  const { rows } = await sql<{ id: string }>`
    select id from owners where pid = ${first.process.pid}`.execute(opened.sql)
  await kill(first)
  await sql`update owners set heartbeat_at = 0 where id = ${rows[0]!.id}`.execute(opened.sql)
  await writeFile(gate, '')

  const jobs = await untilEnded(second, ids.length)
  assert.deepEqual(jobs.map(({ id }) => id).sort(), ids.toSorted())
  assert.ok(jobs.every(({ status }) => status === 'done'))
  const result = await call<{ result: object }>(second, `/v2/pre-recorded/${ids[0]}`)
  assert.ok(JSON.stringify(result.body.result).length > LONG_TEXT.length)
  const file = await fetch(`${second.url}/v2/pre-recorded/${ids[1]}/file`, {
    headers: { 'x-service-key': second.key, range: 'bytes=0-3' },
  })
  assert.deepEqual([file.status, await file.text()], [206, 'RIFF'])
  for (const folder of folders) {
    await assert.rejects(readdir(join(folder, 'objects')), { code: 'ENOENT' })
  }
})

test('a session recording is on every server despite an overloaded store', {
  skip,
}, async (t) => {
  const { servers, proxy } = await startTwo(t)
  const [first, second] = servers as [ChildServer, ChildServer]
  const audio = makeLiveAudio(createRandom(SEED), { seconds: 4 })
  const { id, url } = await openSession(first, audio.params)
  const client = await connect(url)
  client.send(streamOf(audio))
  await client.waitForType('audio_chunk')
  proxy.disturb('overloaded')
  client.stop()
  while (proxy.disturbed < 3) await delay(50)
  proxy.disturb('none')
  await client.closed
  const headers = { 'x-service-key': second.key }
  const file = await fetch(`${second.url}/v2/live/${id}/file`, { headers })
  assert.equal(file.status, 200)
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), recordingOf(audio))
})

const faults: S3Fault[] = ['overloaded', 'slow', 'cut', 'away', 'full']

for (const fault of faults) {
  test(`with a store that is ${fault} for a while each accepted job is done once`, {
    skip,
  }, async (t) => {
    const { servers, proxy, receiver } = await startTwo(t, { count: 1 })
    const [server] = servers as [ChildServer]
    const audio = await serveAudio(t)
    const ids: string[] = []
    for (let n = 0; n < 2; n++)
      ids.push(await create(server, await upload(server, n), receiver.url))
    proxy.disturb(fault, fault === 'slow' || fault === 'cut' ? 0.5 : 1)
    for (let n = 0; n < 2; n++)
      ids.push(await create(server, `${audio}/${9 + n}.wav`, receiver.url))
    while (proxy.disturbed < 4) await delay(50)
    if (fault === 'away' || fault === 'overloaded') {
      const ready = await call(server, '/ready')
      assert.equal(ready.status, 503)
    }
    await delay(3000)
    proxy.disturb('none')
    ids.push(await create(server, await upload(server, 5), receiver.url))
    const jobs = await untilEnded(server, ids.length)
    assert.deepEqual(
      jobs.map(({ status, error_code }) => [status, error_code ?? null]),
      ids.map(() => ['done', null]),
    )
    const deliveryIds = () =>
      new Set(receiver.at('/callback').map((one) => one.headers['webhook-id']))
    while (deliveryIds().size < ids.length) await delay(50)
    await delay(500)
    assert.equal(deliveryIds().size, ids.length)
  })
}
