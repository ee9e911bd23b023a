import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
  whyNoPostgres,
} from '../scripts/tests/test-tools/test-postgres.ts'
import { startModelServer } from '../test/support/asr/model-server.ts'
import { WEBHOOK_PATH } from '../test/support/delivery/expected-sequences.ts'
import {
  openUnreliable,
  type UnreliableReceiver,
} from '../test/support/delivery/unreliable-receiver.ts'
import { freePort } from '../test/support/net/free-port.ts'
import { createRandom } from '../test/support/random/random.ts'
import {
  createFaultChoice,
  type Fault,
  fillFolder,
  lockSqlite,
  openSlowPostgres,
  type SlowPostgres,
} from './faults.ts'
import { runRound } from './round.ts'
import { describeSlopes, type Sample, sampleOf } from './samples.ts'
import { SoakedServer } from './soaked-server.ts'

/** The duration, the database, and the seed of a soak. */
export type SoakOptions = {
  minutes: number
  database: 'sqlite' | 'postgres'
  seed: number
  /** The limit for small requests; see `RoundOptions`. */
  maxP95Ms: number
  only?: Fault | undefined
}

/** The size of the disk for data: more than a round stores, but quickly filled. */
const DISK = '256m'
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const settings = {
  STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
  STENO_WEBHOOK_SECRETS: `test:${SECRET}`,
  STENO_MAX_LIVE_SESSIONS: '1000',
  STENO_LIVE_CONNECT_TIMEOUT_S: '5',
  FAKE_RETRY_MS: '100',
}

/** Runs rounds for the given minutes; resolves to the exit code. */
export async function soak(options: SoakOptions): Promise<number> {
  const { minutes, database, seed, maxP95Ms, only } = options
  const reason = database === 'postgres' ? whyNoPostgres() : undefined
  if (reason) {
    console.error(`Cannot run with PostgreSQL: ${reason}`)
    return 1
  }
  await using resources = new AsyncDisposableStack()
  // Cleans up, because a mounted disk and a database would outlive the process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void resources.disposeAsync().finally(() => process.exit(1)))
  }
  const random = createRandom(seed)
  const root = await mkdtemp(join(tmpdir(), 'steno-soak-'))
  resources.defer(() => rm(root, { recursive: true, force: true }))
  const [folder, models] = [join(root, 'data'), join(root, 'models')]
  await mkdir(folder)
  const hasDisk = mountDisk(folder)
  if (hasDisk) resources.defer(() => void spawnSync('umount', [folder]))
  const mirror = await startModelServer()
  resources.defer(() => mirror.close())
  const receivers = await openReceivers(resources, random)
  const postgres = database === 'postgres' ? await startDatabase(resources, root) : undefined
  const env = {
    ...settings,
    STENO_PORT: await freePort(),
    STENO_WEBHOOKS: receivers.map(({ url }) => `test=${url}${WEBHOOK_PATH}`).join(','),
    STENO_MODELS_DIR: models,
    STENO_MODELS_MIRROR: mirror.url,
    ...(postgres && { STENO_DATABASE_URL: postgres.url }),
  }
  const server = new SoakedServer({ folder, env })
  resources.defer(() => server.kill())
  console.log(`seed ${seed}, ${database}, ${minutes} minutes`)

  const place = {
    server,
    receivers,
    random,
    maxP95Ms,
    only,
    models: { folder: models, mirror },
    slowDatabase: (ms: number) => postgres?.slow(ms) ?? lockSqlite(folder, ms),
    fillDisk: hasDisk ? (ms: number) => fillFolder(folder, ms) : undefined,
  }
  const chooseFault = createFaultChoice(place)
  const samples: Sample[] = []
  const end = performance.now() + minutes * 60_000
  let failures = 0
  for (let round = 1; performance.now() < end; round++) {
    try {
      const report = await runRound({ ...place, round, fault: chooseFault() })
      const sample = await takeSample(server, folder)
      samples.push(sample)
      const { at, ...measured } = sample
      console.log(JSON.stringify({ round, ...report, ...measured }))
    } catch (error) {
      failures++
      console.error(`round ${round}, seed ${seed}:`, error)
      console.error(server.takeLog())
      // Clears the jobs of a failed round, so that the next round does not report them again.
      await server.clear().catch((problem) => console.error(problem))
    }
  }
  console.log(describeSlopes(samples))
  console.log(failures === 0 ? 'nothing was lost, doubled or out of order' : `${failures} failures`)
  return failures === 0 ? 0 : 1
}

/**
 * Mounts a separate disk for the data, which can be filled; returns false where that is not
 * allowed.
 */
function mountDisk(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', folder]).status === 0
}

async function openReceivers(
  resources: AsyncDisposableStack,
  random: () => number,
): Promise<UnreliableReceiver[]> {
  const receivers: UnreliableReceiver[] = []
  for (let i = 0; i < 2; i++) {
    const receiver = await openUnreliable({ secret: SECRET, random })
    resources.defer(() => receiver.close())
    receivers.push(receiver)
  }
  return receivers
}

async function takeSample(server: SoakedServer, folder: string): Promise<Sample> {
  const { url } = await server.ensureRunning()
  await server.collectGarbage()
  return sampleOf({ pid: server.pid, url, folder })
}

async function startDatabase(resources: AsyncDisposableStack, root: string): Promise<SlowPostgres> {
  const folder = makePostgresFolder()
  resources.defer(() => removePostgres(folder))
  await startPostgres(folder, { isDurable: true })
  const proxy = await openSlowPostgres(postgresUrl(folder, 'postgres'), root)
  resources.defer(() => proxy.close())
  return proxy
}
