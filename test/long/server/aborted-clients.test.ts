import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { findKnownObjects } from '../../../src/storage/objects/orphans/known-objects.ts'
import { oneChunk } from '../../support/audio/fake-media.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { addJob } from '../../support/jobs/test-jobs.ts'
import { audioForm, upload } from '../../support/net/http-client.ts'
import { rounds } from '../../support/random/rounds.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const TIMES = rounds(2)
/** More than the buffers between server and client hold. */
const LONG = createToneWav(900)
/** A list of them is longer than those buffers. */
const JOBS = 800

/** Open files, sockets and pipes of this process, by what they are. */
function openHandles(): number {
  return readdirSync('/proc/self/fd').length
}

/**
 * Sends the first `bytes` of a request, then leaves, after the first `answered` bytes of the
 * answer.
 */
async function leave({ url }: TestServer, { request, bytes, answered = 0 }: Way): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  await new Promise((resolve) => socket.write(request.subarray(0, bytes), resolve))
  for (let read = 0; read < answered; ) {
    await once(socket, 'readable')
    read += (socket.read() as Buffer | null)?.length ?? 0
  }
  socket.resetAndDestroy()
  await once(socket, 'close')
}

function get(server: TestServer, path: string): Buffer {
  return Buffer.from(`GET ${path} HTTP/1.1\r\nhost: a\r\nx-service-key: ${server.key}\r\n\r\n`)
}

async function post(server: TestServer, bytes: Uint8Array<ArrayBuffer>): Promise<Buffer> {
  const request = new Request('http://a', { method: 'POST', body: audioForm(bytes) })
  const body = Buffer.from(await request.arrayBuffer())
  const head = [
    'POST /v2/upload HTTP/1.1',
    'host: a',
    `x-service-key: ${server.key}`,
    `content-type: ${request.headers.get('content-type')}`,
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Waits until the server has no connection and nothing that a request began. */
async function untilQuiet({ app: { http } }: TestServer): Promise<void> {
  for (let open = 1; open > 0; await delay(5)) {
    // Those that `fetch` keeps for its next request.
    http.server.closeIdleConnections()
    open = await promisify(http.server.getConnections).call(http.server)
  }
}

/** Waits until all that was said is indexed: what that needs is opened in the background. */
async function untilIndexed({ app }: TestServer): Promise<void> {
  const queue = app.storage.db.sql.selectFrom('search_queue').select('job_id').limit(1)
  while ((await queue.execute()).length > 0) await delay(20)
}

/** How a client leaves: after so many bytes of its request, or of the response. */
type Way = { name: string; request: Buffer; bytes: number; answered?: number }

async function waysToLeave(server: TestServer, longJob: string): Promise<Way[]> {
  const [long, short] = [await post(server, LONG), await post(server, createToneWav(1))]
  const download = get(server, new URL(await upload(server, LONG)).pathname)
  const list = get(server, '/v2/pre-recorded?limit=1000')
  const job = get(server, `/v2/pre-recorded/${longJob}`)
  const head = long.indexOf('\r\n\r\n') + 4
  const all = { bytes: Number.POSITIVE_INFINITY }
  return [
    { name: 'in the head of an upload', request: long, bytes: head - 10 },
    { name: 'after the head of an upload', request: long, bytes: head },
    { name: 'in the head of the part', request: long, bytes: head + 60 },
    { name: 'in the middle of an upload', request: long, bytes: long.length / 2 },
    { name: 'before the last byte of an upload', request: long, bytes: long.length - 1 },
    { name: 'before the answer to an upload', request: short, ...all },
    { name: 'before a download', request: download, ...all },
    { name: 'in the middle of a download', request: download, ...all, answered: 100_000 },
    { name: 'before a job with a long result', request: job, ...all },
    { name: 'in the middle of such a job', request: job, ...all, answered: 100_000 },
    { name: 'before a list', request: list, ...all },
    { name: 'in the middle of a list', request: list, ...all, answered: 100_000 },
  ]
}

/** Gives one of the jobs a result that lies in an object, and returns its id. */
async function giveLongResult({ app }: TestServer): Promise<string> {
  const { db } = app.storage
  const { id } = await db.sql.selectFrom('jobs').select('id').limit(1).executeTakeFirstOrThrow()
  const result_object = randomUUID()
  const body = oneChunk(Buffer.from(JSON.stringify({ text: 'x'.repeat(20_000_000) })))
  const { signal } = new AbortController()
  await db.objects.write(result_object, body, { maxBytes: 1e9, signal })
  await db.sql.updateTable('jobs').set({ result_object }).where('id', '=', id).execute()
  return id
}

/** Objects, and what was to become one, of which no row tells. */
async function findStrays({ app, folder }: TestServer): Promise<string[]> {
  const options = { recursive: true, withFileTypes: true } as const
  const entries = await readdir(join(folder, 'objects'), options)
  const ids = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  const known = await findKnownObjects(app.storage.db, ids)
  return ids.filter((id) => !known.has(id))
}

test('clients that disconnect at any moment leave nothing open or incomplete', {
  skip: process.platform !== 'linux' && 'counts /proc/self/fd',
}, async (t) => {
  const server = await startServer({ env: { STENO_MAX_QUEUED_JOBS: '1000' } })
  t.after(() => server.close())
  const { db } = server.app.storage
  for (let n = 0; n < JOBS; n++) {
    const metadata = { n, long: 'x'.repeat(1900) }
    await addJob(db, { account: 'test', maxQueued: JOBS, metadata })
  }
  await db.sql.updateTable('jobs').set({ status: 'done', completed_at: Date.now() }).execute()
  await server.app.jobs.idle()
  const ways = await waysToLeave(server, await giveLongResult(server))
  await untilIndexed(server)
  async function leaveOften(way: Way): Promise<void> {
    await Promise.all(Array.from({ length: TIMES }, () => leave(server, way)))
    await untilQuiet(server)
  }
  // Once before it is counted: what is opened at the first use and kept is no leak.
  for (const way of ways) await leaveOften(way)
  const before = openHandles()
  for (const way of ways) {
    await leaveOften(way)
    while ((await findStrays(server)).length > 0) await delay(5)
    while (openHandles() > before) await delay(5)
    t.diagnostic(`nothing left by clients that leave ${way.name}`)
  }
})
