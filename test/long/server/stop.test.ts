import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer, text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createToneWav } from '../../support/audio/recordings.ts'
import { startSteno } from '../../support/cli/run-steno.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { type ChildServer, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

/** A file that no buffer between server and client holds. */
const LONG = createToneWav(1500)

type Fields = Record<string, unknown>

/** Opens a connection and sends these bytes on it. */
async function open(t: TestContext, { url }: ChildServer, bytes = ''): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

function head({ key }: ChildServer, line: string, ...headers: string[]): string {
  return [line, 'host: a', `x-service-key: ${key}`, ...headers, '', ''].join('\r\n')
}

const BOUNDARY = '--b\r\ncontent-disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n'

/** An upload of which the first half is sent. */
async function beginUpload(t: TestContext, server: ChildServer, folder: string) {
  const bytes = Buffer.from(createToneWav(2))
  const length = `content-length: ${BOUNDARY.length + bytes.length + '\r\n--b--\r\n'.length}`
  const type = 'content-type: multipart/form-data; boundary=b'
  const start = head(server, 'POST /v2/upload HTTP/1.1', type, length) + BOUNDARY
  const socket = await open(t, server, start)
  socket.write(bytes.subarray(0, 20_000))
  const unfinished = join(folder, 'objects', 'unfinished')
  while (readdirSync(unfinished).length === 0) await delay(5)
  return {
    socket,
    end: () => socket.write(`${bytes.toString('latin1', 20_000)}\r\n--b--\r\n`, 'latin1'),
  }
}

/** A download that waits for its reader after the first bytes; its connection is one to be kept. */
async function beginDownload(t: TestContext, server: ChildServer, url: string) {
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const requested = request(url, { agent, headers: { 'x-service-key': server.key } }).end()
  const [response] = (await once(requested, 'response')) as [IncomingMessage]
  return response
}

/** Creates a job that takes a whole slot, as those of recordings over 30 s do. */
async function createJob(server: ChildServer): Promise<string> {
  const json = { audio_url: await upload(server, createToneWav(31)) }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  return body.id
}

async function untilRunning(server: ChildServer, id: string): Promise<void> {
  for (;;) {
    const { body } = await call(server, `/v2/pre-recorded/${id}/progress`)
    if (body.stage === 'recognize') return
    await delay(10)
  }
}

/** The row of a job, while no server runs. */
function readJob(folder: string, id: string): Fields {
  const database = new DatabaseSync(join(folder, 'steno.sqlite'), { readOnly: true })
  const row = database.prepare('select * from jobs where id = ?').get(id) as Fields
  database.close()
  return row
}

/** Ids of the processes that a process started. */
function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const readonly = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/children`, 'utf8'))
  return readonly.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('at SIGTERM running requests finish, jobs are returned and the process exits', async (t) => {
  const folder = await makeFolder(t)
  const env = { FAKE_BATCH_MS: '600000', FAKE_GRACE_MS: '200' }
  const server = (await startChild(t, folder, { env }))!
  const [busy, waiting] = [await createJob(server), await createJob(server)]
  const third = await createJob(server)
  for (const id of [busy, waiting]) await untilRunning(server, id)
  const long = await upload(server, LONG)

  const silent = text(await open(t, server))
  const kept = await open(t, server, head(server, 'GET /health HTTP/1.1'))
  await once(kept, 'data')
  const download = await beginDownload(t, server, long)
  const sending = await beginUpload(t, server, folder)
  server.process.kill('SIGTERM')
  await once(kept, 'close')
  assert.equal(await silent, '')

  sending.end()
  // The upload's answer, then on the same connection a request for more.
  sending.socket.write(head(server, 'GET /v2/pre-recorded HTTP/1.1'))
  const response = await text(sending.socket)
  assert.match(response, /^HTTP\/1\.1 200 .*"audio_url"/s)
  assert.match(response, /connection: close/i)
  assert.deepEqual(new Uint8Array(await buffer(download)), LONG)
  assert.deepEqual(await server.ended, { code: 0, signal: null })

  for (const id of [busy, waiting, third]) {
    const { status, attempt, interruptions, lease_owner } = readJob(folder, id)
    assert.deepEqual([status, attempt, interruptions, lease_owner], ['queued', 0, 0, null])
  }
  const next = (await startChild(t, folder))!
  for (const id of [busy, waiting, third]) {
    for (let done = false; !done; await delay(10)) {
      done = (await call(next, `/v2/pre-recorded/${id}`)).body.status === 'done'
    }
  }
})

test('at SIGINT a job within the grace period finishes, and no other starts', async (t) => {
  const folder = await makeFolder(t)
  const gate = join(folder, 'open')
  const server = (await startChild(t, folder, { env: { FAKE_GATE: gate } }))!
  const ids = [await createJob(server), await createJob(server), await createJob(server)]
  for (const id of ids.slice(0, 2)) await untilRunning(server, id)
  // An upload that goes on for longer than the jobs: the third must not be taken in its time.
  const sending = await beginUpload(t, server, folder)
  const idle = await open(t, server, head(server, 'GET /health HTTP/1.1'))
  await once(idle, 'data')
  server.process.kill('SIGINT')
  await once(idle, 'close')
  await writeFile(gate, '')
  const database = new DatabaseSync(join(folder, 'steno.sqlite'), { readOnly: true })
  const statuses = database.prepare('select status from jobs order by created_at')
  while (statuses.all().filter(({ status }) => status === 'done').length < 2) await delay(10)
  sending.end()
  assert.match(await text(sending.socket), /^HTTP\/1\.1 200 /)
  assert.equal((await server.ended).code, 0)
  assert.deepEqual(
    statuses.all().map(({ status }) => status),
    ['done', 'done', 'queued'],
  )
  database.close()
})

test('while requests finish, new ones get 503, and health responds', async (t) => {
  const folder = await makeFolder(t)
  const server = (await startChild(t, folder))!
  const sending = await beginUpload(t, server, folder)
  // Connections with a request that has begun; the rest of it comes during the stop.
  const late = await open(t, server, 'GET /v2/pre-recorded HTTP/1.1\r\n')
  const health = await open(t, server, 'GET /health HTTP/1.1\r\n')
  const idle = await open(t, server, head(server, 'GET /health HTTP/1.1'))
  await once(idle, 'data')
  server.process.kill('SIGTERM')
  await once(idle, 'close')
  late.write(head(server, 'x: y'))
  health.write(head(server, 'x: y'))
  const refused = await text(late)
  assert.match(refused, /^HTTP\/1\.1 503 /)
  assert.match(refused, /^retry-after: [1-9]\d*\r$/im)
  const body = JSON.parse(refused.slice(refused.indexOf('{'))) as ErrorBody
  assert.deepEqual([body.statusCode, body.path], [503, '/v2/pre-recorded'])
  assert.match(await text(health), /^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s)
  sending.end()
  await text(sending.socket)
  assert.equal((await server.ended).code, 0)
})

test('an endless upload delays a stop only up to the limit', async (t) => {
  const folder = await makeFolder(t)
  const server = (await startChild(t, folder, { env: { FAKE_DRAIN_MS: '300' } }))!
  await beginUpload(t, server, folder)
  server.process.kill('SIGTERM')
  assert.deepEqual(await server.ended, { code: 0, signal: null })
  assert.deepEqual(readdirSync(join(folder, 'objects', 'unfinished')), [])
})

test('a second signal ends the server at once', async (t) => {
  const folder = await makeFolder(t)
  const env = { FAKE_BATCH_MS: '600000', FAKE_GRACE_MS: '600000', FAKE_DRAIN_MS: '600000' }
  const server = (await startChild(t, folder, { env }))!
  await untilRunning(server, await createJob(server))
  await beginUpload(t, server, folder)
  const state = { ended: false }
  server.ended.then(() => Object.assign(state, { ended: true }))
  // Signals close together count as one: again and again, until one is the second.
  for (; !state.ended; await delay(50)) server.process.kill('SIGTERM')
  assert.deepEqual(await server.ended, { code: 130, signal: null })
})

test('workers and decoders end with their server, even when it is killed', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async (t) => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const folder = await makeFolder(t)
    const processes = { STENO_WORKERS: '2', STENO_LIVE_SLOTS: '8' }
    const env = { STENO_DATA_DIR: folder, STENO_PORT: '0', ...processes }
    const child = startSteno(['serve'], { env })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    const children = childrenOf(child.pid!)
    // One for recordings, two for finals, two for partials and one for the VAD of sessions.
    assert.equal(children.length, 6)
    child.kill(signal)
    await once(child, 'exit')
    while (children.some(lives)) await delay(10)
  }
})
