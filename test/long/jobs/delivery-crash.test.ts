// Whenever the server is killed, whatever receivers do: each event arrives, in order, and only what happened.
import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { DeliveryView } from '../../../src/api/schemas/delivery.ts'
import { type BusyAccount, createBusyAccount } from '../../support/busy-account.ts'
import { type ChildServer, kill, startChild } from '../../support/child-server.ts'
import {
  callbackBodies,
  type ReceivedEvent,
  type ReceivedJob,
  type ReceivedLane,
  readLanes,
  WEBHOOK_PATH,
  webhookBodies,
} from '../../support/expected-lanes.ts'
import { freePort } from '../../support/free-port.ts'
import { type Answer, call } from '../../support/http-client.ts'
import { within } from '../../support/live-chance.ts'
import { createRandom } from '../../support/random.ts'
import { rounds, SEED } from '../../support/rounds.ts'
import { makeFolder } from '../../support/test-storage.ts'
import { openUnreliable, type UnreliableReceiver } from '../../support/unreliable-receiver.ts'

const KILLS = rounds(2)
/** A killed server has listened at most this long. */
const MAX_LIFE_MS = 4000
/** Every so many kills one comes while the server is still starting. */
const EARLY_KILLS = 6
const MAX_START_MS = 600
/** Jobs, sessions and deletions that each of two actors asks of one server, so that most end under it. */
const ACTS = 5
/** At least so many of each there are in the end, however slow the machine is. */
const DELETED = 5
const SESSIONS = 2
const TIMEOUT_MS = 180_000

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

test('whenever a server is killed, each event arrives in its turn, and nothing of what was deleted', async (t) => {
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
  const jobs = await list<ReceivedJob>(last, '/v2/transcription?limit=200')
  const deliveries = await list<DeliveryView>(last, '/v2/deliveries?limit=200')
  await kill(last)

  assertKept(account, jobs)
  const known = new Map(jobs.map((job) => [job.id, job]))
  const received: ReceivedEvent[] = []
  for (const [i, receiver] of receivers.entries()) {
    assert.deepEqual(receiver.foreign, [], 'all is signed')
    const lanes = readLanes(receiver.arrivals)
    for (const lane of lanes) {
      const job = known.get(lane.jobId)
      if (job) assertReceived(lane, job, account)
      else assertDeleted(lane, account, i)
    }
    assertAllReceived(lanes, { jobs, account, receiver: i })
    received.push(...lanes.filter(({ jobId }) => known.has(jobId)).flatMap(({ events }) => events))
  }
  const logged = deliveries.map(({ id }) => id)
  assert.deepEqual(logged.sort(), received.map(({ id }) => id).sort())
  assertLog(deliveries, receivers)
  const arrivals = receivers.flatMap((receiver) => receiver.arrivals)
  const events = new Set(arrivals.map(({ id }) => id)).size
  t.diagnostic(
    `${jobs.length} jobs, ${account.deleted.size} deleted; ${events} events in ${arrivals.length} arrivals`,
  )
})

/** Asks for some things one after the other, and for others beside them. */
async function act(account: BusyAccount, server: ChildServer): Promise<void> {
  async function actor(): Promise<void> {
    for (let i = 0; i < ACTS; i++) await account.act(server)
  }
  await Promise.all([actor(), actor()])
}

type Page<T> = { items: T[]; next: string | null }

/** All pages of a list. */
async function list<T>(server: ChildServer, path: string): Promise<T[]> {
  const items: T[] = []
  let next: string | null = path
  while (next) {
    const page: Answer<Page<T>> = await call<Page<T>>(server, next)
    assert.equal(page.status, 200)
    items.push(...page.body.items)
    next = page.body.next
  }
  return items
}

/** Nothing is to be worked on, and nobody has to be told anything. */
async function untilSettled(server: ChildServer): Promise<void> {
  const open = [
    '/v2/transcription?status=queued&status=processing&limit=1',
    '/v2/deliveries?status=pending&limit=1',
  ]
  for (const path of open) {
    while ((await call<{ items: unknown[] }>(server, path)).body.items.length > 0) await delay(50)
  }
}

/** What was accepted is there, unless its deletion was asked for; what was deleted is not. */
function assertKept(
  { accepted, requested, deleted }: BusyAccount,
  jobs: readonly ReceivedJob[],
): void {
  const found = new Set(jobs.map(({ id }) => id))
  for (const id of accepted.keys()) assert.ok(found.has(id) || requested.has(id), `${id} is lost`)
  for (const id of deleted.keys()) assert.ok(!found.has(id), `${id} was deleted`)
}

/** A receiver was told of a job what there was to tell, all of it, in order and each thing once. */
function assertReceived(lane: ReceivedLane, job: ReceivedJob, { wishes }: BusyAccount): void {
  const { jobId, isWebhook, events } = lane
  const { n } = job.custom_metadata
  for (const { path, method, isTaken, body } of events) {
    assert.ok(isTaken, `${jobId}: ${body} was not told to the end`)
    assert.equal(path, isWebhook ? WEBHOOK_PATH : `/callback/${n}`)
    assert.equal(method, isWebhook ? 'POST' : wishes[n]!.method)
  }
  if (isUnheard(job)) return
  const bodies = isWebhook ? webhookBodies(job) : callbackBodies(job)
  assert.deepEqual(
    events.map(({ body }) => body),
    bodies,
  )
}

/** A session to which nobody came, because its address was lost: there is no result to compare with. */
function isUnheard({ kind, status }: ReceivedJob): boolean {
  return kind === 'live' && status === 'error'
}

/** Nothing began to arrive after the deletion had been answered. */
function assertDeleted(lane: ReceivedLane, account: BusyAccount, receiver: number): void {
  const { jobId, events } = lane
  assert.ok(account.requested.has(jobId), `${jobId} is known to nobody`)
  const place = account.deleted.get(jobId)?.[receiver] ?? Number.POSITIVE_INFINITY
  for (const { body, arrivals } of events) {
    const late = arrivals.filter(({ begun }) => begun > place)
    assert.deepEqual(late, [], `${jobId}: ${body} came after its deletion`)
  }
}

type Received = { jobs: readonly ReceivedJob[]; account: BusyAccount; receiver: number }

/** Each job has been told of by its callback and by the webhook of each receiver. */
function assertAllReceived(
  lanes: readonly ReceivedLane[],
  { jobs, account, receiver }: Received,
): void {
  const received = new Set(lanes.map(({ jobId, isWebhook }) => `${jobId} ${isWebhook}`))
  for (const { id, custom_metadata } of jobs) {
    assert.ok(received.has(`${id} true`), `the webhook ${receiver} was told of ${id}`)
    const isRequested = account.wishes[custom_metadata.n]!.receiver === receiver
    assert.equal(received.has(`${id} false`), isRequested, `the callback of ${id} at ${receiver}`)
  }
}

/** The log shows what arrived, and no more than that; what a killed server did not note may be missing. */
function assertLog(
  deliveries: readonly DeliveryView[],
  receivers: readonly UnreliableReceiver[],
): void {
  const answers = new Map<string, (number | undefined)[]>()
  for (const { id, status } of receivers.flatMap(({ arrivals }) => arrivals)) {
    answers.set(id, [...(answers.get(id) ?? []), status])
  }
  for (const { id, status, attempts, attempt_count, event } of deliveries) {
    const what = `${event} ${id}`
    assert.equal(status, 'delivered', what)
    const numbers = attempts.map(({ number }) => number)
    assert.deepEqual(
      numbers,
      [...Array(attempt_count).keys()].map((i) => i + 1),
    )
    const codes = attempts.map(({ status_code }) => status_code)
    assert.equal(codes.indexOf(204), codes.length - 1, `${what} was told once, at last`)
    for (const code of [204, 500]) {
      const [noted, given] = [codes, answers.get(id) ?? []].map((all) => {
        return all.filter((one) => one === code).length
      })
      assert.ok(noted! <= given!, `${what} was answered ${code}`)
    }
  }
}
