// Whatever fails, no session is left neither open nor ended.
import assert from 'node:assert/strict'
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { createApp } from '../../../src/app/app.ts'
import type { SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { wavHeader } from '../../../src/audio/containers/wav-header.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, type LiveClient, openSession } from '../../support/live/clients/live-client.ts'
import { call } from '../../support/net/http-client.ts'
import { sharedParts } from '../../support/server/shared-parts.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const
const speech = synthesizeAudio('..####......')
const recording = Buffer.concat([wavHeader(format, speech.length), speech])

type Job = { status: string; error_code: number | null; file: { audio_duration: number | null } }
type Server = Awaited<ReturnType<typeof start>>

/** Starts a server in this process; `logged` resolves when it logs a message the next time. */
async function start(
  t: TestContext,
  {
    folder,
    engine,
    env,
  }: { folder?: string; engine?: SpeechEngine; env?: Record<string, string> } = {},
) {
  const data = folder ?? (await makeFolder(t))
  const config = readConfig({
    STENO_DATA_DIR: data,
    STENO_API_KEYS: 'test:key',
    STENO_RATE_LIMIT: '0',
    STENO_LIVE_RESUME_WINDOW_S: '1',
    ...env,
  })
  const waiting = new Map<string, () => void>()
  const write = (line: string) => waiting.get(JSON.parse(line).msg)?.()
  const app = await createApp(config, {
    speech: engine ?? createFakeSpeechEngine('hello world'),
    log: pino({ level: 'error' }, { write }),
    ...sharedParts(),
  })
  let closing: Promise<void> | undefined
  function close(): Promise<void> {
    closing ??= app.close()
    return closing
  }
  t.after(close)
  const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
  function logged(message: string): Promise<void> {
    return new Promise((resolve) => waiting.set(message, resolve))
  }
  return { url, key: 'key', folder: data, db: app.storage.db, logged, close }
}

async function waitForJob(server: Server, id: string, is: (job: Job) => boolean): Promise<Job> {
  for (;;) {
    const { body } = await call<Job>(server, `/v2/live/${id}`)
    if (is(body)) return body
    await delay(20)
  }
}

async function recordingOf(server: Server, id: string): Promise<Buffer> {
  const headers = { 'x-service-key': server.key }
  const response = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

/** Begins a session whose sound is acknowledged. */
async function begin(server: Server): Promise<{ id: string; url: string; client: LiveClient }> {
  const { id, url } = await openSession(server)
  const client = await connect(url)
  client.send(speech)
  await client.waitForType('audio_chunk')
  return { id, url, client }
}

/** The address of a session on another server. */
function on({ url }: Server, session: string): string {
  const address = new URL(session)
  address.port = new URL(url).port
  return address.href
}

/** A server whose engine hears nothing, and is lost for good as soon as it is told. */
async function startLosing(t: TestContext) {
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  const onLive = () => lost.promise
  const server = await start(t, { engine: createFakeSpeechEngine('hello', { onLive }) })
  return { server, lose: () => lost.reject(new Error('lost')) }
}

/** Lets no job fail, as a full disk may. */
async function refuseFailures({ db }: Server): Promise<() => Promise<void>> {
  await sql`create trigger no_room before update on jobs when new.status = 'error'
    begin select raise(abort, 'disk full'); end`.execute(db.sql)
  return async () => {
    await sql`drop trigger no_room`.execute(db.sql)
  }
}

/**
 * Puts a folder in the place of the log of a session, so that it cannot be read; the result puts it
 * back.
 */
async function hideLog({ folder }: Server, id: string): Promise<() => Promise<void>> {
  const log = join(folder, 'live', id, 'log')
  await rename(log, `${log}.away`)
  await mkdir(log)
  return async () => {
    await rmdir(log)
    await rename(`${log}.away`, log)
  }
}

test('a failed session keeps its recording', async (t) => {
  const { server, lose } = await startLosing(t)
  const { id, url, client } = await begin(server)
  lose()
  assert.equal((await client.closed).code, 4500)
  const { status, error_code, file } = await waitForJob(server, id, () => true)
  const seconds = speech.length / 32_000
  assert.deepEqual([status, error_code, file.audio_duration], ['error', 500, seconds])
  assert.deepEqual(await recordingOf(server, id), recording)
  assert.equal((await (await connect(url)).closed).code, 4410)
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
  assert.equal((await call(server, `/v2/live/${id}/file`)).status, 404)
})

test('a failure that cannot be stored is stored later', async (t) => {
  const { server, lose } = await startLosing(t)
  const accept = await refuseFailures(server)
  const refused = server.logged('cannot store the end of a live session, retrying')
  const { id, client } = await begin(server)
  lose()
  await refused
  assert.equal((await waitForJob(server, id, () => true)).status, 'processing')
  await accept()
  assert.equal((await client.closed).code, 4500)
  assert.equal((await waitForJob(server, id, () => true)).error_code, 500)
  await server.close()
  assert.deepEqual(await readdir(join(server.folder, 'live')), [])
})

test('a failure that a stopping server could not store is left to the next one', async (t) => {
  const { server, lose } = await startLosing(t)
  const accept = await refuseFailures(server)
  const refused = server.logged('cannot store the end of a live session, retrying')
  const { id, client } = await begin(server)
  lose()
  await refused
  await accept()
  await server.close()
  assert.equal((await client.closed).code, 1012)
  const next = await start(t, { folder: server.folder })
  await waitForJob(next, id, ({ status }) => status === 'done')
  assert.deepEqual(await recordingOf(next, id), recording)
})

test('a session whose folder cannot be created starts once it can', async (t) => {
  const server = await start(t)
  const inTheWay = join(server.folder, 'live')
  await rm(inTheWay, { recursive: true, force: true })
  await writeFile(inTheWay, '')
  const { id, url } = await openSession(server)
  assert.equal((await (await connect(url)).closed).code, 1011)
  assert.equal((await (await connect(url)).closed).code, 1011)
  await rm(inTheWay)
  await waitForJob(server, id, ({ status }) => status === 'done')
  assert.equal((await (await connect(url)).closed).code, 4410)
})

test('a session unreadable after a restart is resumed once it is readable', async (t) => {
  const first = await start(t)
  const { id, url } = await begin(first)
  await first.close()
  const putBack = await hideLog(first, id)
  const server = await start(t, { folder: first.folder })
  assert.equal((await (await connect(on(server, url))).closed).code, 1011)
  const failed = server.logged('cannot resume a live session')
  await failed // The second try.
  await putBack()
  await waitForJob(server, id, ({ status }) => status === 'done')
  assert.deepEqual(await recordingOf(server, id), recording)
})

test('a session with a failed disk is resumed once its files are readable', async (t) => {
  const server = await start(t)
  const { id, client } = await begin(server)
  const putBack = await hideLog(server, id)
  await breakNextSync(t, server.folder)
  const failed = server.logged('cannot resume a live session')
  client.send(speech)
  assert.equal((await client.closed).code, 1011)
  await failed
  await putBack()
  const { file } = await waitForJob(server, id, ({ status }) => status === 'done')
  assert.ok(file.audio_duration! >= speech.length / 32_000)
})

/** Lets the next sync of a file that is written to fail, as a disk that fails does. */
async function breakNextSync(t: TestContext, folder: string): Promise<void> {
  const path = join(folder, 'some-file')
  await using handle = await open(path, 'w')
  const files = Object.getPrototypeOf(handle) as FileHandle
  const { mock } = t.mock.method(files, 'datasync')
  mock.mockImplementationOnce(async () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' })
  })
}

test('a session taken over by another process is released', async (t) => {
  const server = await start(t)
  const { id, client } = await begin(server)
  await server.db.sql.updateTable('jobs').set({ lease_epoch: 7 }).where('id', '=', id).execute()
  client.stop()
  assert.equal((await client.closed).code, 1012, 'the client is to find the other one')
  assert.equal((await waitForJob(server, id, () => true)).status, 'processing')
  await server.close()
  assert.deepEqual(await readdir(join(server.folder, 'live')), [id], 'its files are not ours')
})

test('sessions of a server without a live engine fail and keep their recordings', async (t) => {
  const first = await start(t)
  const { id, url } = await begin(first)
  const queued = await openSession(first)
  await first.close()
  const engine = { ...createFakeSpeechEngine(''), live: undefined }
  const server = await start(t, {
    folder: first.folder,
    engine,
    env: { STENO_LIVE_SLOTS: '0', STENO_LIVE_CONNECT_TIMEOUT_S: '300' },
  })
  const { error_code } = await waitForJob(server, id, ({ status }) => status === 'error')
  assert.equal(error_code, 503)
  assert.deepEqual(await recordingOf(server, id), recording)
  assert.equal((await (await connect(on(server, url))).closed).code, 4410)
  assert.equal((await (await connect(on(server, queued.url))).closed).code, 4410)
  assert.equal((await waitForJob(server, queued.id, () => true)).error_code, 503)
  assert.deepEqual(await readdir(join(server.folder, 'live')), [])
  assert.equal((await call(server, `/v2/live/${id}`, { method: 'DELETE' })).status, 202)
})
