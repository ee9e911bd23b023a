// Sessions on three nodes behind a load balancer, killed, stopped and paused at random, are
// those of a server that never was.
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { openSession } from '../../support/live/clients/live-client.ts'
import { startReconnectingClient } from '../../support/live/clients/reconnecting-client.ts'
import { makeLiveAudio, streamOf } from '../../support/live/live-audio.ts'
import {
  assertReceived,
  assertSame,
  transcribeUndisturbed,
  untilDone,
} from '../../support/live/live-comparison.ts'
import { randomClient, randomParams, within } from '../../support/live/random-client.ts'
import { type Balancer, startBalancer } from '../../support/net/tcp-balancer.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { noPostgres, takeDatabase } from '../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const ROUNDS = rounds(1)
const NODES = 3
const SESSIONS = 4
const FAULTS = 4
const TIMEOUT_MS = 120_000
/** Longer than a lease, so that another node has taken the sessions when the paused one goes on. */
const PAUSE_MS = 13_000

/** Never disturbed: what it makes of a sound is what the others have to. */
let steady: TestServer
before(async () => {
  const speech = createFakeSpeechEngine('', { fingerprint: true })
  steady = await startServer({ speech, env: { STENO_MAX_LIVE_SESSIONS: '1000' } })
})
after(() => steady.close())

/** Nodes on one database and folder, behind a load balancer; each is replaced when it is gone. */
async function startNodes(t: TestContext) {
  const { url } = await takeDatabase(t)
  const folder = await makeFolder(t)
  const balancer = await startBalancer(t)
  const env = {
    STENO_DATABASE_URL: url,
    STENO_MAX_LIVE_SESSIONS: '1000',
    STENO_LIVE_SLOTS: '100',
    STENO_PUBLIC_WS_BASE_URL: balancer.url.replace('http', 'ws'),
  }
  const start = async () => (await startChild(t, folder, { env }))!
  const nodes = await Promise.all(Array.from({ length: NODES }, start))
  const updateBalancer = () => balancer.setTargets(nodes.map((node) => node.url))
  updateBalancer()
  async function replace(at: number): Promise<void> {
    nodes[at] = await start()
    updateBalancer()
  }
  return { nodes, balancer, replace }
}

type Cluster = { nodes: ChildServer[]; balancer: Balancer; replace(at: number): Promise<void> }

/** Harms one node at random, and resolves when it is back. */
async function disturb({ nodes, replace }: Cluster, random: () => number): Promise<string> {
  const at = Math.floor(random() * nodes.length)
  const node = nodes[at]!
  const chance = random()
  if (chance < 0.5) {
    await kill(node)
    await replace(at)
    return 'killed'
  }
  if (chance < 0.8) {
    node.process.kill('SIGTERM')
    await node.ended
    await replace(at)
    return 'stopped'
  }
  node.process.kill('SIGSTOP')
  await delay(PAUSE_MS)
  node.process.kill('SIGCONT')
  return 'paused'
}

describe('nodes of one database', { skip: noPostgres }, () => {
  test('after faults sessions continue at other nodes with an unchanged result', async (t) => {
    for (let round = 0; round < ROUNDS; round++) {
      const random = createRandom(SEED + round)
      const cluster = await startNodes(t)
      const server = { url: cluster.balancer.url, key: cluster.nodes[0]!.key }
      const begin = async () => {
        const audio = makeLiveAudio(random, { seconds: 10 + 20 * random() })
        // Add-ons of a session end after some seconds, which nodes that start may take from them.
        const params = { ...randomParams(random), realtime_processing: {}, post_processing: {} }
        const expected = await transcribeUndisturbed(steady, audio, params)
        const { id, url } = await openSession(server, { ...params, ...audio.params })
        const manner = { ...randomClient(random, audio), lostConnections: 0 }
        const client = startReconnectingClient({ url, stream: streamOf(audio), random, ...manner })
        return { id, audio, expected, client }
      }
      const sessions: Awaited<ReturnType<typeof begin>>[] = []
      const faults: string[] = []
      try {
        for (let i = 0; i < SESSIONS; i++) sessions.push(await begin())
        const ended = Promise.all(sessions.map(({ client }) => client.ended))
        for (let i = 0; i < FAULTS; i++) {
          await delay(random() * 800)
          faults.push(await disturb(cluster, random))
        }
        await within(TIMEOUT_MS, ended)
        for (const { id, audio, expected, client } of sessions) {
          await within(TIMEOUT_MS, untilDone(server, id))
          assertReceived(client, await assertSame(server, { id, audio, expected }))
        }
      } catch (cause) {
        const closes = sessions.map(({ client }) => client.closes.map(({ code }) => code))
        const how = JSON.stringify({ faults, closes })
        throw new Error(`seed ${SEED + round}: ${how}: ${cause}`, { cause })
      } finally {
        for (const { client } of sessions) client.leave()
        await Promise.all(cluster.nodes.map(kill))
      }
      t.diagnostic(`${faults}`)
    }
  })
})
