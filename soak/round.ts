import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../src/cli/live/live-latency.ts'
import {
  checkAccount,
  describeOpenWork,
  list,
  untilSettled,
} from '../test/support/api/account-checks.ts'
import { type BusyAccount, createBusyAccount } from '../test/support/api/busy-account.ts'
import { runHere } from '../test/support/cli/run-here.ts'
import { within } from '../test/support/live/random-client.ts'
import { call } from '../test/support/net/http-client.ts'
import type { ChildServer } from '../test/support/server/child-server.ts'
import { causeFaults, type Fault, type FaultTarget, HARMLESS, REFUSING } from './faults.ts'
import { checkModels, type ModelTarget } from './models.ts'
import type { SoakedServer } from './soaked-server.ts'

/** The options of a round. */
export type RoundOptions = FaultTarget & {
  round: number
  fault: Fault
  /**
   * The limit of the 95th percentile of small requests in milliseconds, in rounds without a fault
   * of the server.
   */
  maxP95Ms: number
  /** The folder and the mirror of models. */
  models: Omit<ModelTarget, 'random'>
}

/** A summary of a round for the console. */
export type RoundReport = {
  fault: Fault
  jobs: number
  sessions: number
  deleted: number
  events: number
  arrivals: number
  /** Milliseconds of small requests. */
  p50: number
  p95: number
}

const ROUND_MS = 20_000
const ACTORS = 3
const ACT_PAUSE_MS = 250
const SESSIONS = 6
const SETTLE_MS = 120_000
const PROBE_MS = 500
/** Pulls take seconds of a process, and write to the log when they fail. */
const ROUNDS_PER_PULL = 3

/** Runs load with one kind of fault; throws when something is lost, doubled or out of order. */
export async function runRound(options: RoundOptions): Promise<RoundReport> {
  const { round, fault, server, receivers, models, random, maxP95Ms } = options
  const account = createBusyAccount({ receivers, random, maxSessions: SESSIONS, isVaried: true })
  const before = receivers.map(({ arrivals }) => arrivals.length)
  await server.ensureRunning()
  const signal = AbortSignal.timeout(ROUND_MS)
  const [, times] = await Promise.all([
    causeFaults(fault, options, { ms: ROUND_MS, signal }),
    probe(server, signal),
    ...Array.from({ length: ACTORS }, () => act(account, server, { signal, fault })),
  ])
  const last = await server.ensureRunning()
  await within(SETTLE_MS, Promise.all(account.clients.map((client) => client.ended))).catch(
    (cause) => {
      throw new Error('not all sessions have ended', { cause })
    },
  )
  await within(SETTLE_MS, untilSettled(last)).catch(async (cause) => {
    throw new Error(`not settled: ${await describeOpenWork(last)}`, { cause })
  })
  await checkKeys(server)
  if (round % ROUNDS_PER_PULL === 1) {
    await checkModels(await asAdmin(server), { ...models, random })
  }
  await checkLists(last)
  const checked = await checkAccount(last, { account, receivers, before })
  await checkDeletion(server)
  const [p50, p95] = [0.5, 0.95].map((share) => Math.round(percentile(times, share) ?? 0))
  const isLate = HARMLESS.has(fault) && p95! > maxP95Ms
  assert.ok(!isLate, `95 % of the requests took up to ${p95} ms, more than ${maxP95Ms}`)
  const [sessions, deleted] = [account.clients.length, account.deleted.size]
  return { fault, ...checked, sessions, deleted, p50: p50!, p95: p95! }
}

/** Acts until the round is over; requests that a fault interrupts are not retried. */
async function act(
  account: BusyAccount,
  server: SoakedServer,
  { signal, fault }: { signal: AbortSignal; fault: Fault },
): Promise<void> {
  while (!signal.aborted) {
    const child = await server.ensureRunning()
    await account.act(child).catch(async (error) => {
      const isLost = error instanceof TypeError || child !== (await server.ensureRunning())
      const isHit = isLost || REFUSING.has(fault)
      if (!isHit) throw error
    })
    await delay(ACT_PAUSE_MS)
  }
}

/** Sends small requests; returns how long they took, without those that a fault hit. */
async function probe(server: SoakedServer, signal: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!signal.aborted) {
    const { url, key } = await server.ensureRunning()
    const began = performance.now()
    const headers = { 'x-service-key': key }
    const response = await fetch(`${url}/v2/transcription?limit=1`, { headers }).catch(
      () => undefined,
    )
    await response?.arrayBuffer().catch(() => undefined)
    if (response?.ok) times.push(performance.now() - began)
    await delay(PROBE_MS)
  }
  return times
}

/** Returns the server with the key of an operator; there is one for the whole soak. */
async function asAdmin(server: SoakedServer): Promise<ChildServer> {
  return { ...(await server.ensureRunning()), key: await server.adminKey() }
}

/** Checks that lists are ordered, that pages of any size are complete, and that filters work. */
async function checkLists(server: ChildServer): Promise<void> {
  type Job = { id: string; kind: string; status: string; created_at: string }
  const all = await list<Job>(server, '/v2/transcription?limit=200')
  const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id)
  const times = all.map(({ created_at }) => created_at)
  assert.deepEqual(times, times.toSorted().reverse(), 'the newest come first')
  assert.deepEqual(ids(await list<Job>(server, '/v2/transcription?limit=7')), ids(all))
  for (const status of ['done', 'error']) {
    const some = await list<Job>(server, `/v2/pre-recorded?limit=50&status=${status}`)
    const wanted = all.filter((job) => job.kind === 'pre-recorded' && job.status === status)
    assert.deepEqual(ids(some), ids(wanted))
  }
}

/** Checks that a new key works at once, and not after it is revoked. */
async function checkKeys(server: SoakedServer): Promise<void> {
  const child = await server.ensureRunning()
  const made = await runHere(
    ['keys', 'create', '--account', 'test', '--scopes', 'read'],
    server.env,
  )
  assert.equal(made.code, 0, made.stderr)
  const key = /\S+$/.exec(made.stdout.trim())![0]
  const status = async () => (await call({ ...child, key }, '/v2/transcription?limit=1')).status
  assert.equal(await status(), 200, 'a new key works')
  const revoked = await runHere(['keys', 'revoke', key.slice(0, 14)], server.env)
  assert.equal(revoked.code, 0, revoked.stderr)
  assert.equal(await status(), 401, 'a revoked key does not work')
}

/** Checks that deleted jobs are not in lists and not found. */
async function checkDeletion(server: SoakedServer): Promise<void> {
  const child = await server.ensureRunning()
  const deleted = await server.clear()
  assert.deepEqual(await list(child, '/v2/transcription'), [])
  for (const id of deleted) {
    assert.equal((await call(child, `/v2/transcription/${id}`)).status, 404)
  }
}
