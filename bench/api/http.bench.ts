/**
 * Measures responses per second under concurrency: one job, the first page of the list, pages from
 * changing offsets, and creation with and without metadata; as a baseline, a hello world of the
 * bare framework before and after. It also measures the processor time of the server per response,
 * which other work on the machine disturbs less. A source that never responds blocks the slots of
 * the queue, so no job runs.
 */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { type LoadOptions, type LoadRequest, type LoadResult, load } from '../support/load.ts'
import { report } from '../support/report.ts'
import { processorTime, type Served, serve, serveSteno } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SECONDS = 5
const CONNECTIONS = [1, 32]
const STORED_JOBS = 200
/** Many accounts create jobs, since one account may have only a few hundred waiting jobs. */
const ACCOUNTS = 100

const silent = createServer().listen(0, '127.0.0.1')
await once(silent, 'listening')
const { port } = silent.address() as { port: number }
const folder = await temporaryFolder()
const hello = await serve(new URL('hello-process.ts', import.meta.url))
const keys = Array.from({ length: ACCOUNTS }, (_, i) => `bench${i}`)
const steno = await serveSteno(folder, {
  STENO_API_KEYS: ['bench:bench', ...keys.map((key) => `${key}:${key}`)].join(','),
  STENO_MAX_QUEUED_JOBS: '100000000',
  STENO_WORKERS: '1',
})

const audio_url = `http://127.0.0.1:${port}/never.wav`
const create = (metadata?: object): LoadRequest => ({
  path: '/v2/pre-recorded',
  method: 'POST',
  json: { audio_url, diarization: true, ...(metadata && { custom_metadata: metadata }) },
})
const headers = { 'x-service-key': 'bench', 'content-type': 'application/json' }
const ids: string[] = []
for (let i = 0; i < STORED_JOBS; i++) {
  const body = JSON.stringify(create({ customer: i }).json)
  const response = await fetch(`${steno.url}/v2/pre-recorded`, { method: 'POST', headers, body })
  ids.push(((await response.json()) as { id: string }).id)
}

/** Also measures the processor time of the server, in milliseconds for each response. */
async function measure(
  { url, process }: Served,
  next: () => LoadRequest,
  options: LoadOptions,
): Promise<LoadResult & { cpuMs: number }> {
  const before = await processorTime(process)
  const result = await load(url, next, options)
  const used = (await processorTime(process)) - before
  return { ...result, cpuMs: used / (result.perSecond * options.seconds) }
}

let turn = 0
const nextKey = () => keys[turn++ % ACCOUNTS]!
for (const connections of CONNECTIONS) {
  const options = { connections, seconds: SECONDS }
  const created = { ...options, status: 201 }
  const first = await measure(hello, () => ({ path: '/' }), options)
  const loads = {
    get: await measure(
      steno,
      () => ({ path: `/v2/pre-recorded/${ids[turn++ % ids.length]}` }),
      options,
    ),
    list: await measure(steno, () => ({ path: '/v2/pre-recorded?limit=20' }), options),
    listAnywhere: await measure(
      steno,
      () => ({ path: `/v2/pre-recorded?limit=20&offset=${turn++ % (STORED_JOBS / 2)}` }),
      options,
    ),
    create: await measure(steno, () => ({ ...create(), key: nextKey() }), created),
    createWithMetadata: await measure(
      steno,
      () => ({ ...create({ customer: turn, team: 'red' }), key: nextKey() }),
      created,
    ),
  }
  const last = await measure(hello, () => ({ path: '/' }), options)
  const bare = (first.perSecond + last.perSecond) / 2
  const bareCpuMs = (first.cpuMs + last.cpuMs) / 2
  const bareResult = { ...first, perSecond: bare, cpuMs: bareCpuMs }
  report({ bench: 'http', what: 'hello', connections, ...bareResult })
  for (const [what, result] of Object.entries(loads)) {
    const ofHello = { ofHello: result.perSecond / bare, cpuOfHello: result.cpuMs / bareCpuMs }
    report({ bench: 'http', what, connections, ...result, ...ofHello })
  }
}
await Promise.all([hello.stop(), steno.stop()])
silent.close()
await rm(folder, { recursive: true })
process.exit()
