// Three nodes, a database and an object store, each a machine of its own: whatever of them fails,
// all accepted work ends once, and as if nothing had happened. `npm run test:cluster` makes all
// faults, one after the other; `npm run test:long` some of them.
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { noCluster, startCluster } from '../../support/cluster/cluster.ts'
import { type Fault, faults } from '../../support/cluster/faults.ts'
import { createWork } from '../../support/cluster/work.ts'
import { noWrongClock, wrongClock } from '../../support/cluster/wrong-clock.ts'
import { within } from '../../support/live/random-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { SEED } from '../../support/random/rounds.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** Whether all faults are made, which takes a quarter of an hour. */
const isLong = process.env.STENO_TEST_CLUSTER === 'long'
/** What `npm run test:long` makes. */
const SHORT = ['a node does not hear the database']

const JOBS = 6
const SESSIONS = 3
/** A job of a dead node is taken within 45 seconds, a notification within two minutes. */
const TIMEOUT_MS = 240_000

/** Never disturbed: what it makes of a sound is what the others have to. */
let steady: TestServer
before(async () => {
  const speech = createFakeSpeechEngine('one two three', { fingerprint: true })
  steady = await startServer({ speech, env: { STENO_MAX_LIVE_SESSIONS: '1000' } })
})
after(() => steady.close())

type Disturbed = { fault: Fault; seed: number; clocks?: readonly string[] }

/** Disturbs one node, or what it needs, while it works; all work has to end as if it had not. */
async function check(t: TestContext, { fault, seed, clocks = [] }: Disturbed): Promise<void> {
  const random = createRandom(SEED + seed)
  const cluster = await startCluster(t, { random, envs: clocks.map(wrongClock) })
  const work = createWork(cluster, { steady, random })
  t.after(() => work.leave())
  // The first one is that whose clock is wrong most.
  const node = cluster.nodes[clocks.length > 0 ? 0 : Math.floor(random() * cluster.nodes.length)]!
  for (let n = 0; n < SESSIONS; n++) await work.addSession(10 + 10 * random())
  const add = async () => {
    for (let n = 0; n < JOBS; n++) {
      await work.addJob()
      await delay(random() * 500)
    }
  }
  const began = performance.now()
  const adding = add()
  await delay(random() * 500)
  await fault(cluster, node)
  const healed = performance.now()
  await within(TIMEOUT_MS, adding)
  const found = await within(TIMEOUT_MS, work.finish())
  const [first, rest] = [healed - began, performance.now() - healed].map((ms) =>
    Math.round(ms / 1000),
  )
  t.diagnostic(`${found}; ${first} s until it was over, ${rest} s more until all had ended`)
}

const all = isLong ? Object.keys(faults) : SHORT

describe('a cluster of three nodes', { skip: noCluster }, () => {
  for (const [i, name] of all.entries()) {
    test(`${name}: all accepted work ends once, as without the fault`, async (t) => {
      await check(t, { fault: faults[name]!, seed: i })
    })
  }

  test('with clocks hours apart and a killed node all accepted work ends once', {
    skip: noWrongClock || (!isLong && 'a part of npm run test:cluster'),
  }, async (t) => {
    await check(t, { fault: faults['a node is killed']!, seed: 100, clocks: ['+1h', '-1h'] })
  })
})
