/**
 * Measures how long one request, of any size within the limits, blocks the event loop of the
 * server: the longest turn in milliseconds of processor time, accurate to 4 ms, over some
 * repetitions of each request. First it runs one act of each attack of `isolation`, then the
 * requests of an ordinary client for a recording with 32,000 words. The first repetition is
 * reported separately, since it loads and compiles code.
 */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { report } from '../support/report.ts'
import { type Served, serve } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavOf } from '../support/wav.ts'
import { type Attacker, createAttacker } from './attacker.ts'
import { derived } from './attacks/bytes.ts'
import { attacks } from './attacks.ts'
import { openSources } from './sources.ts'

/** The longest time that a request may block the loop. */
const LIMIT_MS = 20
const REPETITIONS = 7
/** The timeout of one act of an attack. */
const ACT_MS = 3000
/** Further add-ons that need no language model. */
const others = { pii_redaction: true, diarization: true }
const RECORDING_SECONDS = 3600
const RATE = 16_000

const folder = await temporaryFolder()
const server = await serve(new URL('event-loop-process.ts', import.meta.url), {
  STENO_DATA_DIR: join(folder, 'data'),
  STENO_API_KEYS: 'bench:bench',
  STENO_RATE_LIMIT: '0',
  STENO_LIVE_SLOTS: '8',
  STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1,::1,localhost',
})
const sources = await openSources()
const headers = { 'x-service-key': 'bench' }

await measure('nothing', () => sleep(200))
for (const [name, attack] of Object.entries(attacks)) {
  if (attack.surroundings) continue
  await measure(name, () => actOnce(attack.run))
}
await measureReading()
await server.stop()
await rm(folder, { recursive: true })
process.exit()

/**
 * Runs a request several times and reports the longest turns; the first run is reported separately.
 */
async function measure(what: string, act: () => Promise<unknown>): Promise<void> {
  const turns: number[] = []
  const counts: Record<string, number> = {}
  for (let i = 0; i <= REPETITIONS; i++) {
    await longestTurn(server)
    const response = await act()
    if (response instanceof Map) for (const [key, count] of response) counts[key] = count
    turns.push(await longestTurn(server))
  }
  const [first, ...rest] = turns
  const [median, maxMs] = [rest.sort((a, b) => a - b)[REPETITIONS >> 1]!, rest.at(-1)!]
  report({ bench: 'event-loop', what, first, median, maxMs, pass: median <= LIMIT_MS, counts })
}

async function longestTurn({ process: child }: Served): Promise<number> {
  child.send({})
  const [{ maxMs }] = (await once(child, 'message')) as [{ maxMs: number }]
  return maxMs
}

/** Runs one act of an attack, in one loop. */
async function actOnce(run: (attacker: Attacker) => Promise<void>): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(ACT_MS)])
  const attacker = createAttacker({ url: server.url, key: 'bench', sources }, { signal, counts })
  const once: Attacker['repeat'] = (_, act) => act(0)
  const acted = run({ ...attacker, repeat: once }).catch(() => {})
  await Promise.race([acted, sleep(ACT_MS)])
  stop.abort()
  return counts
}

async function request(path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(server.url + path, {
    ...init,
    headers: { ...headers, ...init.headers },
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 200)}`)
  return text
}

function json(value: unknown): RequestInit {
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', body: JSON.stringify(value), headers }
}

async function measureReading(): Promise<void> {
  const form = new FormData()
  const samples = new Int16Array(RECORDING_SECONDS * RATE).map((_, n) => 3000 * Math.sin(n / 7))
  form.append('audio', new Blob([wavOf(Buffer.from(samples.buffer))]), 'long.wav')
  const { audio_url } = JSON.parse(await request('/v2/upload', { method: 'POST', body: form }))
  let id = ''
  await measure('the job of the recording', async () => {
    id = await finishJob({ audio_url })
  })
  await measure('the job with all that needs no model', async () => {
    id = await finishJob({ audio_url, ...derived, ...others })
  })
  const job = `/v2/pre-recorded/${id}`
  const paths = [job, `${job}/file`, '/v2/transcription?limit=1000', '/v2/search?q=country']
  for (const path of paths) await measure(path.replace(id, 'ID'), () => request(path))
}

async function finishJob(params: Record<string, unknown>): Promise<string> {
  const { id } = JSON.parse(await request('/v2/pre-recorded', json(params)))
  for (;;) {
    const response = await fetch(`${server.url}/v2/pre-recorded/${id}?omit=result`, { headers })
    const { status } = (await response.json()) as { status: string }
    if (status === 'done') return id
    if (status === 'error') throw new Error('the job failed')
    await sleep(200)
  }
}
