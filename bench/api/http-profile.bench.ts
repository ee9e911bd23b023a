/**
 * Profiles the processor time of requests: for each kind of request of `http`, the share of each
 * part of the program in the samples of a profile, by thread, while 32 connections load the server.
 * Idle samples are left out.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { glob, mkdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type LoadRequest, load } from '../support/load.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type CpuProfile, shareByPart } from './profile-parts.ts'

const SECONDS = 10
const CONNECTIONS = 32
const STORED_JOBS = 200
/** Many accounts create jobs, since one account may have only a few hundred waiting jobs. */
const ACCOUNTS = 100
/** Threads below this share of all samples, such as those of the log, are left out. */
const MIN_THREAD_SHARE = 0.02

const silent = createServer().listen(0, '127.0.0.1')
await once(silent, 'listening')
const { port } = silent.address() as { port: number }
const create: LoadRequest = {
  path: '/v2/pre-recorded',
  method: 'POST',
  json: { audio_url: `http://127.0.0.1:${port}/never.wav`, diarization: true },
}
const keys = Array.from({ length: ACCOUNTS }, (_, i) => `bench${i}`)
const folder = await temporaryFolder()
for (const what of ['get', 'list', 'create']) await profile(what)
silent.close()
await rm(folder, { recursive: true })
process.exit()

async function profile(what: string): Promise<void> {
  const runFolder = join(folder, what)
  await mkdir(join(runFolder, 'profiles'), { recursive: true })
  const server = fork(new URL('../support/server-process.ts', import.meta.url), {
    execArgv: [...process.execArgv, '--cpu-prof', `--cpu-prof-dir=${join(runFolder, 'profiles')}`],
    env: {
      ...process.env,
      STENO_DATA_DIR: join(runFolder, 'data'),
      STENO_API_KEYS: ['bench:bench', ...keys.map((key) => `${key}:${key}`)].join(','),
      STENO_RATE_LIMIT: '0',
      STENO_ALLOW_PRIVATE_NETWORK: 'true',
      STENO_MAX_QUEUED_JOBS: '100000000',
      STENO_WORKERS: '1',
    },
  })
  const [{ url }] = (await once(server, 'message')) as [{ url: string }]
  const ids: string[] = []
  const headers = { 'x-service-key': 'bench', 'content-type': 'application/json' }
  for (let i = 0; i < STORED_JOBS; i++) {
    const body = JSON.stringify(create.json)
    const response = await fetch(`${url}/v2/pre-recorded`, { method: 'POST', headers, body })
    ids.push(((await response.json()) as { id: string }).id)
  }
  let turn = 0
  const requests: Record<string, () => LoadRequest> = {
    get: () => ({ path: `/v2/pre-recorded/${ids[turn++ % ids.length]}` }),
    list: () => ({ path: '/v2/pre-recorded?limit=20' }),
    create: () => ({ ...create, key: keys[turn++ % ACCOUNTS]! }),
  }
  const status = what === 'create' ? 201 : 200
  const from = now()
  await load(url, requests[what]!, { connections: CONNECTIONS, seconds: SECONDS, status })
  const loaded = [from, now()] as const
  const ended = once(server, 'exit')
  server.send('exit')
  await ended
  await reportThreads(what, join(runFolder, 'profiles'), loaded)
}

/** Returns the microseconds of the clock that profiles use. */
function now(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

async function reportThreads(
  what: string,
  profiles: string,
  loaded: readonly [number, number],
): Promise<void> {
  const threads = []
  for await (const file of glob('*.cpuprofile', { cwd: profiles })) {
    const text = await readFile(join(profiles, file), 'utf8')
    threads.push(shareByPart(JSON.parse(text) as CpuProfile, loaded))
  }
  const total = threads.reduce((sum, { busy }) => sum + busy, 0)
  for (const { busy, parts } of threads.sort((a, b) => b.busy - a.busy)) {
    if (busy / total < MIN_THREAD_SHARE) continue
    report({ bench: 'http-profile', what, ofAllThreads: busy / total, parts })
  }
}
