import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { DeliveryView } from '../../../src/api/schemas/webhooks/delivery.ts'
import {
  callbackBodies,
  type ReceivedEvent,
  type ReceivedJob,
  type ReceivedSequence,
  readSequences,
  WEBHOOK_PATH,
  webhookBodies,
} from '../delivery/expected-sequences.ts'
import type { Arrival, UnreliableReceiver } from '../delivery/unreliable-receiver.ts'
import { call, type Response } from '../net/http-client.ts'
import type { ChildServer } from '../server/child-server.ts'
import type { BusyAccount } from './busy-account.ts'

type Server = Pick<ChildServer, 'url' | 'key'>

/** What there was to check. */
export type CheckedAccount = { jobs: number; events: number; arrivals: number }

export type AccountOptions = {
  account: BusyAccount
  receivers: readonly UnreliableReceiver[]
  /** How many arrivals each receiver had before the account began. */
  before?: readonly number[]
}

/**
 * Asserts of a settled server that nothing accepted is lost and nothing deleted is left, and that
 * each receiver got every event, in order and none else.
 */
export async function checkAccount(
  server: Server,
  { account, receivers, before = [] }: AccountOptions,
): Promise<CheckedAccount> {
  const jobs = await list<ReceivedJob>(server, '/v2/transcription?limit=200')
  const deliveries = await list<DeliveryView>(server, '/v2/deliveries?limit=200')
  assertKept(account, jobs)
  const known = new Map(jobs.map((job) => [job.id, job]))
  const received: ReceivedEvent[] = []
  const arrivals = receivers.map((receiver, i) => receiver.arrivals.slice(before[i] ?? 0))
  for (const [i, receiver] of receivers.entries()) {
    assert.deepEqual(receiver.foreign, [], 'all is signed')
    const sequences = readSequences(arrivals[i]!)
    for (const sequence of sequences) {
      const job = known.get(sequence.jobId)
      if (job) assertReceived(sequence, job, { account, deliveries })
      else assertDeleted(sequence, account, i)
    }
    assertAllReceived(sequences, { jobs, account, receiver: i })
    received.push(
      ...sequences.filter(({ jobId }) => known.has(jobId)).flatMap(({ events }) => events),
    )
  }
  const logged = deliveries.map(({ id }) => id)
  assert.deepEqual(logged.sort(), received.map(({ id }) => id).sort())
  assertLog(deliveries, arrivals.flat())
  const events = new Set(arrivals.flat().map(({ id }) => id)).size
  return { jobs: jobs.length, events, arrivals: arrivals.flat().length }
}

type Page<T> = { items: T[]; next: string | null }

/** Returns all pages of a list. */
export async function list<T>(server: Server, path: string): Promise<T[]> {
  const items: T[] = []
  let next: string | null = path
  while (next) {
    const page: Response<Page<T>> = await call<Page<T>>(server, next)
    assert.equal(page.status, 200)
    items.push(...page.body.items)
    next = page.body.next
  }
  return items
}

const openWork = [
  '/v2/transcription?status=queued&status=processing&limit=1',
  '/v2/deliveries?status=pending&limit=1',
]

/** Resolves when no job is open and no message is waiting for delivery. */
export async function untilSettled(server: Server): Promise<void> {
  for (const path of openWork) {
    while ((await call<{ items: unknown[] }>(server, path)).body.items.length > 0) await delay(50)
  }
}

/** Describes one job and one delivery that `untilSettled` waits for. */
export async function describeOpenWork(server: Server): Promise<string> {
  const pages = await Promise.all(openWork.map((path) => call<Page<unknown>>(server, path)))
  return JSON.stringify(pages.map(({ body }) => body.items))
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

/** Asserts that a receiver got all messages of a job, in order and each once. */
function assertReceived(
  sequence: ReceivedSequence,
  job: ReceivedJob,
  { account: { wishes }, deliveries }: { account: BusyAccount; deliveries: DeliveryView[] },
): void {
  const { jobId, isWebhook, events } = sequence
  const { n } = job.custom_metadata
  for (const { path, method, isTaken, body } of events) {
    assert.ok(isTaken, `${jobId}: ${body} was not told to the end`)
    assert.equal(path, isWebhook ? WEBHOOK_PATH : `/callback/${n}`)
    assert.equal(method, isWebhook ? 'POST' : wishes[n]!.method)
  }
  if (isNeverConnected(job)) return
  const bodies = isWebhook ? webhookBodies(job) : callbackBodies(job)
  try {
    assert.deepEqual(
      events.map(({ body }) => body),
      bodies,
    )
  } catch (cause) {
    const ids = new Set(events.map(({ id }) => id))
    const others = deliveries.filter((one) => one.job_id === jobId && !ids.has(one.id))
    const states = others.map(
      ({ event, status, attempts }) => `${event} ${status} ${attempts.length}`,
    )
    throw new Error(`${jobId}: not received: ${states.join(', ') || 'none of the log'}`, { cause })
  }
}

/** A session without a client, because its address was lost: there is no result to compare with. */
function isNeverConnected({ kind, status }: ReceivedJob): boolean {
  return kind === 'live' && status === 'error'
}

/** Nothing began to arrive after the deletion had been answered. */
function assertDeleted(sequence: ReceivedSequence, account: BusyAccount, receiver: number): void {
  const { jobId, events } = sequence
  assert.ok(account.requested.has(jobId), `${jobId} is known to nobody`)
  const place = account.deleted.get(jobId)?.[receiver] ?? Number.POSITIVE_INFINITY
  for (const { body, arrivals } of events) {
    const late = arrivals.filter(({ begun }) => begun > place)
    assert.deepEqual(late, [], `${jobId}: ${body} came after its deletion`)
  }
}

type Received = { jobs: readonly ReceivedJob[]; account: BusyAccount; receiver: number }

/** Each job was reported to its callback and to the webhook of each receiver. */
function assertAllReceived(
  sequences: readonly ReceivedSequence[],
  { jobs, account, receiver }: Received,
): void {
  const received = new Set(sequences.map(({ jobId, isWebhook }) => `${jobId} ${isWebhook}`))
  for (const { id, custom_metadata } of jobs) {
    assert.ok(received.has(`${id} true`), `the webhook ${receiver} was told of ${id}`)
    const isRequested = account.wishes[custom_metadata.n]!.receiver === receiver
    assert.equal(received.has(`${id} false`), isRequested, `the callback of ${id} at ${receiver}`)
  }
}

/**
 * The log shows what arrived, and no more than that; what a killed server did not note may be
 * missing.
 */
function assertLog(deliveries: readonly DeliveryView[], arrivals: readonly Arrival[]): void {
  const responses = new Map<string, (number | undefined)[]>()
  for (const { id, status } of arrivals) {
    responses.set(id, [...(responses.get(id) ?? []), status])
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
      const [noted, given] = [codes, responses.get(id) ?? []].map((all) => {
        return all.filter((one) => one === code).length
      })
      assert.ok(noted! <= given!, `${what} was answered ${code}`)
    }
  }
}
