/**
 * Writes the data of a server of some checkout, for the tests of upgrades: a data folder, or with
 * `--database` a dump of PostgreSQL with the folder. Uses only what every version offers.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { create } from 'tar'
import WebSocket from 'ws'
import { freePort } from '../../../test/support/net/free-port.ts'

const HELP = `node scripts/tests/test-tools/make-upgrade-fixture.ts [OPTIONS] FILE.tgz
Runs the server of a checkout, lets it transcribe, kills it, and packs what it leaves.

Options:
  --checkout DIR   whose server; its packages must be installed (default: this one)
  --database URL   an empty PostgreSQL database; needs pg_dump`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    checkout: { type: 'string', default: join(import.meta.dirname, '../../..') },
    database: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [file] = positionals
if (values.help || !file) {
  console.log(HELP)
  process.exit(values.help ? 0 : 2)
}

const KEY = 'upgrade-fixture-key-of-account-acme'
/** The models load slowly on a machine that is busy. */
const WAIT_MS = 600_000
const WAV_HEADER = 58
const RATE = 8000
const MULAW_SILENCE = 0xff
const root = resolve(values.checkout)
const speech = await readFile(
  join(import.meta.dirname, '../../../test/fixtures/encodings/speech.opus'),
)

/** The data that the newest server must find, besides the files. */
type Expected = {
  /** The key of the account. */
  key: string
  /** Recordings that are done, with their words. */
  done: { id: string; transcript: string; metadata: unknown }[]
  /** A live session that is done, where the version has live sessions. */
  live?: { id: string; transcript: string }
  /** A recording whose server was killed before it was done. */
  interrupted: string
  /**
   * A session that was open when the server was killed, and the seconds that it had acknowledged.
   */
  open?: { id: string; path: string; seconds: number }
  /** A key of the account from `steno keys create`, where the version has it. */
  storedKey?: string
  /** Messages to receivers, where the version lists them. */
  deliveries?: string[]
}

const folder = await mkdtemp(join(tmpdir(), 'steno-fixture-'))
const data = join(folder, 'data')
await mkdir(data, { mode: 0o700 })
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const bin = join(root, 'bin/steno.mjs')
const { PATH, HOME, LD_LIBRARY_PATH } = process.env
const env = {
  PATH,
  HOME,
  LD_LIBRARY_PATH,
  STENO_DATA_DIR: data,
  STENO_HOST: '127.0.0.1',
  STENO_PORT: String(port),
  STENO_API_KEYS: `acme:${KEY}`,
  STENO_ALLOW_PRIVATE_NETWORK: 'true',
  STENO_LOG_LEVEL: 'error',
  STENO_WORKERS: '1',
  ...(values.database && { STENO_DATABASE_URL: values.database }),
}
const server = start()
try {
  await untilReady()
  const expected = await work()
  server.kill('SIGKILL')
  await once(server, 'exit')
  await writeFile(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 2)}\n`)
  const names = ['data', 'expected.json']
  if (values.database) {
    const dump = ['--no-owner', '--no-privileges', '--inserts', `--dbname=${values.database}`]
    await writeFile(join(folder, 'database.sql'), execFileSync('pg_dump', dump))
    names.push('database.sql')
  }
  for (const name of ['lock', 'tmp']) await rm(join(data, name), { recursive: true, force: true })
  await pack(names)
  console.log(`${file}: ${JSON.stringify(await readdir(data))}`)
} finally {
  server.kill('SIGKILL')
  await rm(folder, { recursive: true })
}

function start(): ChildProcess {
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  return spawn(process.execPath, [bin, 'serve'], { env, cwd: folder, stdio: [...stdio] })
}

async function untilReady(): Promise<void> {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const response = await fetch(`${url}/ready`).catch(() => undefined)
    if (response?.ok) return
    if (server.exitCode !== null || Date.now() > end) throw new Error('the server is not ready')
    await delay(100)
  }
}

async function work(): Promise<Expected> {
  const form = new FormData()
  form.append('audio', new Blob([speech]), 'speech.opus')
  const { audio_url } = await request('POST', '/v2/upload', form)
  const done: Expected['done'] = []
  for (const n of [1, 2]) {
    const metadata = { number: n }
    const { id } = await request('POST', '/v2/pre-recorded', {
      audio_url,
      sentences: n === 2,
      callback_url: `http://127.0.0.1:${port}/nobody`,
      custom_metadata: metadata,
    })
    done.push({ id, transcript: await transcriptOf(`/v2/pre-recorded/${id}`), metadata })
  }
  const live = await liveSession()
  const deliveries = await listDeliveries()
  const storedKey = createKey()
  const open = await openSession()
  const { id: interrupted } = await request('POST', '/v2/pre-recorded', { audio_url })
  return {
    key: KEY,
    done,
    interrupted,
    ...(live && { live }),
    ...(open && { open }),
    ...(storedKey && { storedKey }),
    ...(deliveries && { deliveries }),
  }
}

/** Sends so many seconds of speech to a new session; undefined where there are none. */
async function startSession(seconds: number) {
  const body = { encoding: 'wav/ulaw', sample_rate: RATE, bit_depth: 8, channels: 1 }
  const response = await send('POST', '/v2/live', body)
  if (response.status !== 201) return undefined
  const session = (await response.json()) as { id: string; url: string }
  const socket = new WebSocket(session.url)
  await once(socket, 'open')
  const wav = await readFile(
    join(import.meta.dirname, '../../../test/fixtures/encodings/mulaw.wav'),
  )
  socket.send(wav.subarray(WAV_HEADER).subarray(0, seconds * RATE))
  return { ...session, socket }
}

/** Speech and a second of silence, until the end. */
async function liveSession(): Promise<Expected['live']> {
  const session = await startSession(4)
  if (!session) return undefined
  const { id, socket } = session
  socket.send(Buffer.alloc(RATE, MULAW_SILENCE))
  socket.send(JSON.stringify({ type: 'stop_recording' }))
  await once(socket, 'close')
  return { id, transcript: await transcriptOf(`/v2/live/${id}`) }
}

/** Speech that the server has acknowledged, and no end. */
async function openSession(): Promise<Expected['open']> {
  const seconds = 1.5
  const session = await startSession(seconds)
  if (!session) return undefined
  const { id, url, socket } = session
  for await (const [message] of on(socket, 'message', { signal: AbortSignal.timeout(WAIT_MS) })) {
    if (JSON.parse(message).type === 'audio_chunk') break
  }
  const { pathname, search } = new URL(url)
  return { id, path: `${pathname}${search}`, seconds }
}

function createKey(): string | undefined {
  const args = [bin, 'keys', 'create', '--account', 'acme', '--name', 'of the fixture']
  const made = spawnSync(process.execPath, args, { env, cwd: folder, encoding: 'utf8' })
  return made.status === 0 ? made.stdout.trim() : undefined
}

async function listDeliveries(): Promise<string[] | undefined> {
  const response = await send('GET', '/v2/deliveries')
  if (!response.ok) return undefined
  const { items } = (await response.json()) as { items: { id: string }[] }
  return items.map(({ id }) => id)
}

async function transcriptOf(path: string): Promise<string> {
  const end = Date.now() + WAIT_MS
  while (Date.now() < end) {
    const job = await request('GET', path)
    if (job.status === 'done') return job.result.transcription.full_transcript
    if (job.status === 'error') throw new Error(`${path}: ${JSON.stringify(job)}`)
    await delay(200)
  }
  throw new Error(`${path} is not done`)
}

// biome-ignore lint/suspicious/noExplicitAny: what each version answers
async function request(method: string, path: string, body?: object): Promise<any> {
  const response = await send(method, path, body)
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

function send(method: string, path: string, body?: object): Promise<Response> {
  const isJson = body !== undefined && !(body instanceof FormData)
  const headers: Record<string, string> = { 'x-service-key': KEY }
  if (isJson) headers['content-type'] = 'application/json'
  const sent = isJson ? JSON.stringify(body) : (body as FormData | undefined)
  return fetch(`${url}${path}`, { method, headers, ...(sent !== undefined && { body: sent }) })
}

/** Packs in a fixed order and without times, as far as the content allows. */
async function pack(names: string[]): Promise<void> {
  const options = { cwd: folder, gzip: { level: 9 }, portable: true, noMtime: true }
  const packed = create(options, names)
  packed.pipe(createWriteStream(resolve(file!)))
  await once(packed, 'end')
}
