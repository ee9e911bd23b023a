// Whenever the server is killed, whatever receivers do: each event arrives, in order, and only what
// happened.
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { checkAccount, untilSettled } from '../../support/api/account-checks.ts'
import { type BusyAccount, createBusyAccount } from '../../support/api/busy-account.ts'
import { WEBHOOK_PATH } from '../../support/delivery/expected-sequences.ts'
import { openUnreliable } from '../../support/delivery/unreliable-receiver.ts'
import { within } from '../../support/live/random-client.ts'
import { freePort } from '../../support/net/free-port.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const KILLS = rounds(2)
/** A killed server has listened at most this long. */
const MAX_LIFE_MS = 4000
/** Every so many kills one comes while the server is still starting. */
const EARLY_KILLS = 6
const MAX_START_MS = 600
/**
 * Jobs, sessions and deletions that each of two actors asks of one server, so that most end under
 * it.
 */
const ACTS = 5
/** At least so many of each there are in the end, however slow the machine is. */
const DELETED = 5
const SESSIONS = 2
const TIMEOUT_MS = 180_000

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

test('after each kill events arrive in order, and none of deleted jobs', async (t) => {
  const random = createRandom(SEED)
  let toBlow = 0
  let blow = Promise.withResolvers<void>()
  const onArrival = () => {
    if (--toBlow === 0) blow.resolve()
  }
  const open = () => openUnreliable({ secret: SECRET, random, onArrival })
  const receivers = [await open(), await open()]
  t.after(() => Promise.all(receivers.map((receiver) => receiver.close())))
  const account = createBusyAccount({ receivers, random, maxSessions: SESSIONS + KILLS / 3 })
  t.after(() => account.clients.forEach((client) => void client.leave()))
  const folder = await makeFolder(t)
  const env = {
    STENO_PORT: await freePort(),
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    STENO_WEBHOOKS: receivers.map(({ url }) => `test=${url}${WEBHOOK_PATH}`).join(','),
    STENO_WEBHOOK_SECRETS: `test:${SECRET}`,
    STENO_MAX_LIVE_SESSIONS: '1000',
    // Sessions whose address was lost with the server's answer.
    STENO_LIVE_CONNECT_TIMEOUT_S: '5',
    FAKE_RETRY_MS: '30',
  }

  for (let kills = 1; kills <= KILLS; kills++) {
    const startMs = kills % EARLY_KILLS === 0 ? random() * MAX_START_MS : undefined
    const server = await startChild(t, folder, { env, startMs })
    if (!server) continue
    toBlow = Math.ceil(300 ** random())
    blow = Promise.withResolvers()
    for (const receiver of receivers) if (random() < 0.4) receiver.leave(Math.ceil(6 * random()))
    let isOver = false
    const acting = act(account, server).catch((error) => {
      // The server was killed under a request.
      if (!isOver) throw error
    })
    await Promise.race([blow.promise, delay(MAX_LIFE_MS * Math.sqrt(random()))])
    isOver = true
    await kill(server)
    await acting
  }

  const last = (await startChild(t, folder, { env }))!
  while (account.deleted.size < DELETED || account.clients.length < SESSIONS)
    await account.act(last)
  await within(TIMEOUT_MS, Promise.all(account.clients.map((client) => client.ended)))
  await within(TIMEOUT_MS, untilSettled(last))
  const { jobs, events, arrivals } = await checkAccount(last, { account, receivers })
  await kill(last)
  t.diagnostic(
    `${jobs} jobs, ${account.deleted.size} deleted; ${events} events in ${arrivals} arrivals`,
  )
})

/** Asks for some things one after the other, and for others beside them. */
async function act(account: BusyAccount, server: ChildServer): Promise<void> {
  async function actor(): Promise<void> {
    for (let i = 0; i < ACTS; i++) await account.act(server)
  }
  await Promise.all([actor(), actor()])
}
