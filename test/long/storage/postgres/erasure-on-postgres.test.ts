// What is left in the files of PostgreSQL of jobs of which nothing is kept.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Client } from 'pg'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../../../scripts/tests/test-tools/test-postgres.ts'
import { createFakeSpeechEngine } from '../../../support/asr/fake-speech-engine.ts'
import { noise, waveOf } from '../../../support/audio/noise.ts'
import { openReceiver, type Receiver } from '../../../support/delivery/receiver.ts'
import { connect, openSession } from '../../../support/live/clients/live-client.ts'
import { audioForm, call, type Uploaded } from '../../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../../support/server/start-server.ts'
import { noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { filesHolding } from '../../../support/storage/folder-search.ts'

const samples = noise(2, 1)
const recording = waveOf([samples])
const words = ['Zanzibar', 'zanzibar']
const sound = Buffer.from(samples.slice(16_000, 16_064).buffer)
/** What is recognized and heard. */
const content = [sound, ...words.map((text) => Buffer.from(text))]
/** What a customer says beside the recording. */
const beside = ['Umbriel', 'Quagmire', 'patient.wav', 'ward-7'].map((text) => Buffer.from(text))

describe('erasure on PostgreSQL', { skip: noPostgres }, () => {
  let folder: string
  let client: Client
  let server: TestServer
  let receiver: Receiver
  before(async () => {
    folder = makePostgresFolder()
    // As the page on data protection has it for whoever erases at once.
    await startPostgres(folder, { settings: ['wal_recycle=off'] })
    const url = postgresUrl(folder, 'postgres')
    client = new Client({ connectionString: url })
    await client.connect()
    receiver = await openReceiver()
    server = await startServer({
      speech: createFakeSpeechEngine('A ship to Zanzibar leaves.'),
      env: { STENO_ZERO_RETENTION: 'test', STENO_DATABASE_URL: url },
    })
  })
  after(async () => {
    await server.close()
    await receiver.close()
    await client.end()
    await removePostgres(folder)
  })

  /** Returns the files of server and database that hold any of these bytes, once all is written. */
  async function findTraces(needles: readonly Buffer[]): Promise<string[]> {
    await client.query('checkpoint')
    return [
      ...(await filesHolding(folder, needles)),
      ...(await filesHolding(server.folder, needles)),
    ]
  }

  async function create(headers: Record<string, string> = {}): Promise<string> {
    const body = audioForm(recording, 'patient.wav')
    const { audio_url } = (await call<Uploaded>(server, '/v2/upload', { body, headers })).body
    const json = {
      audio_url,
      custom_metadata: { person: 'Umbriel' },
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['Quagmire'] },
      callback: true,
      callback_config: { url: `${receiver.url}/ward-7` },
    }
    const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json, headers })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    return created.body.id
  }

  async function untilNoJobs(): Promise<void> {
    while ((await client.query('select 1 from jobs')).rows.length > 0) await setImmediate()
  }

  /** Jobs are indexed some seconds after their end. */
  async function untilSearched(word: string, headers: Record<string, string>): Promise<void> {
    for (;;) {
      const { body } = await call<{ items: unknown[] }>(server, `/v2/search?q=${word}`, { headers })
      if (body.items.length > 0) return
      await setImmediate()
    }
  }

  /** What the page on data protection tells whoever cannot wait. */
  async function eraseAtOnce(): Promise<void> {
    await client.query('vacuum full')
    await client.query('checkpoint')
    await client.query('select pg_switch_wal()')
    await client.query('checkpoint')
  }

  test('a recording and its words never reach the database', async () => {
    await create()
    await receiver.until('/ward-7', 1)
    assert.match(receiver.at('/ward-7')[0]!.body, /Zanzibar.*Umbriel/)
    await untilNoJobs()
    assert.deepEqual(await findTraces(content), [])
    assert.notDeepEqual(await findTraces(beside), [], 'what is deleted stays in its files for now')
  })

  test('metadata and a session leave no trace after VACUUM FULL', async () => {
    const { id, url } = await openSession(server, { custom_metadata: { person: 'Umbriel' } })
    const session = await connect(url)
    session.send(recording.subarray(44))
    session.stop()
    await session.closed
    await call(server, `/v2/live/${id}`)
    await untilNoJobs()
    assert.notDeepEqual(await findTraces(content), [], 'open sessions are in the database')
    await eraseAtOnce()
    assert.deepEqual(await findTraces([...content, ...beside]), [])
  })

  test('jobs of other accounts are found in the database files', async () => {
    const headers = { 'x-service-key': OTHER_KEY }
    const id = await create(headers)
    await server.app.jobs.idle()
    assert.equal((await call(server, `/v2/pre-recorded/${id}`, { headers })).status, 200)
    await untilSearched('zanzibar', headers)
    for (const needle of [...content, ...beside]) {
      assert.notDeepEqual(await findTraces([needle]), [], needle.toString())
    }
  })

  test('deleting a job schedules a vacuum of its space', async (t) => {
    const headers = { 'x-service-key': OTHER_KEY }
    const id = await create(headers)
    await server.app.jobs.idle()
    const eraseDeletedRows = t.mock.method(server.app.storage.db.dialect, 'eraseDeletedRows')
    const path = `/v2/pre-recorded/${id}`
    assert.equal((await call(server, path, { method: 'DELETE', headers })).status, 202)
    assert.equal(eraseDeletedRows.mock.callCount(), 1)
  })
})
