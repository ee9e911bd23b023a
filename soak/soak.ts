import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
  whyNoPostgres,
} from '../scripts/test-postgres.ts'
import { WEBHOOK_PATH } from '../test/support/expected-lanes.ts'
import { freePort } from '../test/support/free-port.ts'
import { createRandom } from '../test/support/random.ts'
import { openUnreliable, type UnreliableReceiver } from '../test/support/unreliable-receiver.ts'
import { runRound } from './round.ts'
import { describeSlopes, type Sample, sampleOf } from './samples.ts'
import { SoakedServer } from './soaked-server.ts'

/** How long to run, on which database, and what the random numbers start with. */
export type SoakOptions = { minutes: number; database: 'sqlite' | 'postgres'; seed: number }

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Runs rounds for so many minutes; resolves to the exit code. */
export async function soak({ minutes, database, seed }: SoakOptions): Promise<number> {
  const reason = database === 'postgres' ? whyNoPostgres() : undefined
  if (reason) {
    console.error(`Cannot run with PostgreSQL: ${reason}`)
    return 1
  }
  await using made = new AsyncDisposableStack()
  const random = createRandom(seed)
  const folder = await mkdtemp(join(tmpdir(), 'steno-soak-'))
  made.defer(() => rm(folder, { recursive: true, force: true }))
  const receivers: UnreliableReceiver[] = []
  for (let i = 0; i < 2; i++) {
    receivers.push(await openUnreliable({ secret: SECRET, random }))
    made.defer(() => receivers[i]!.close())
  }
  const env = {
    STENO_PORT: await freePort(),
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    STENO_WEBHOOKS: receivers.map(({ url }) => `test=${url}${WEBHOOK_PATH}`).join(','),
    STENO_WEBHOOK_SECRETS: `test:${SECRET}`,
    STENO_MAX_LIVE_SESSIONS: '1000',
    STENO_LIVE_CONNECT_TIMEOUT_S: '5',
    FAKE_RETRY_MS: '100',
    ...(database === 'postgres' && { STENO_DATABASE_URL: await startDatabase(made) }),
  }
  const server = new SoakedServer({ folder, env })
  made.defer(() => server.kill())
  console.log(`seed ${seed}, ${database}, ${minutes} minutes`)

  const samples: Sample[] = []
  const end = performance.now() + minutes * 60_000
  let failures = 0
  for (let round = 1; performance.now() < end; round++) {
    try {
      const report = await runRound({ round, server, receivers, random })
      const { url } = await server.running()
      await server.collectGarbage()
      const sample = await sampleOf({ pid: server.pid, url, folder })
      samples.push(sample)
      const { at, ...measured } = sample
      console.log(JSON.stringify({ round, ...report, ...measured }))
    } catch (error) {
      failures++
      console.error(`round ${round}, seed ${seed}:`, error)
      // What it left behind is not judged twice.
      await server.clear().catch((problem) => console.error(problem))
    }
  }
  console.log(describeSlopes(samples))
  console.log(failures === 0 ? 'nothing was lost, doubled or out of order' : `${failures} failures`)
  return failures === 0 ? 0 : 1
}

async function startDatabase(made: AsyncDisposableStack): Promise<string> {
  const folder = makePostgresFolder()
  made.defer(() => removePostgres(folder))
  await startPostgres(folder, { isDurable: true })
  return postgresUrl(folder, 'postgres')
}
