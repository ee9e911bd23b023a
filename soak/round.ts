import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from '../src/cli/live/live-latency.ts'
import { checkAccount, list, untilSettled } from '../test/support/account-checks.ts'
import { type BusyAccount, createBusyAccount } from '../test/support/busy-account.ts'
import { call } from '../test/support/http-client.ts'
import { within } from '../test/support/live-chance.ts'
import { runHere } from '../test/support/run-here.ts'
import type { UnreliableReceiver } from '../test/support/unreliable-receiver.ts'
import type { SoakedServer } from './soaked-server.ts'

/** Where a round happens. */
export type RoundOptions = {
  round: number
  server: SoakedServer
  receivers: readonly UnreliableReceiver[]
  random: () => number
}

/** What happened in a round, for people who read along. */
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

/** Most rounds are without a kill, so that memory is seen to stay flat in one process. */
const faults = ['none', 'none', 'away', 'pause', 'none', 'away', 'stop', 'kill'] as const
type Fault = (typeof faults)[number]

const ROUND_MS = 20_000
const ACTORS = 3
const ACT_PAUSE_MS = 250
const MAX_KILLS = 3
const MAX_PAUSE_MS = 6000
const SESSIONS = 6
const SETTLE_MS = 120_000
const PROBE_MS = 500

/** Runs load with one kind of fault; throws when something is lost, doubled or out of order. */
export async function runRound(options: RoundOptions): Promise<RoundReport> {
  const { round, server, receivers, random } = options
  const account = createBusyAccount({ receivers, random, maxSessions: SESSIONS })
  const before = receivers.map(({ arrivals }) => arrivals.length)
  const fault = round === 1 ? 'none' : faults[Math.floor(random() * faults.length)]!
  const over = AbortSignal.timeout(ROUND_MS)
  await server.running()
  const [, times] = await Promise.all([
    causeFaults(fault, options, over),
    probe(server, over),
    ...Array.from({ length: ACTORS }, () => act(account, server, over)),
  ])
  const last = await server.running()
  await within(SETTLE_MS, Promise.all(account.clients.map((client) => client.ended)))
  await within(SETTLE_MS, untilSettled(last))
  await checkKeys(server)
  const checked = await checkAccount(last, { account, receivers, before })
  await checkDeletion(server)
  return {
    ...{ fault, ...checked },
    sessions: account.clients.length,
    deleted: account.deleted.size,
    p50: Math.round(percentile(times, 0.5) ?? 0),
    p95: Math.round(percentile(times, 0.95) ?? 0),
  }
}

async function causeFaults(
  fault: Fault,
  { server, receivers, random }: RoundOptions,
  over: AbortSignal,
): Promise<void> {
  if (fault === 'none') return
  for (let kills = 0; !over.aborted && kills < MAX_KILLS; kills++) {
    await delay((ROUND_MS / MAX_KILLS) * random(), undefined, { signal: over }).catch(() => {})
    if (over.aborted) return
    if (fault === 'away') {
      for (const receiver of receivers) receiver.leave(Math.ceil(20 * random()))
    } else if (fault === 'pause') await server.pause(MAX_PAUSE_MS * random())
    else if (fault === 'kill') await server.kill()
    else await server.stop()
    await server.running()
  }
}

/** Acts until the round is over; what a fault interrupts is tried no more. */
async function act(account: BusyAccount, server: SoakedServer, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const child = await server.running()
    await account.act(child).catch(async (error) => {
      const isHit = error instanceof TypeError || child !== (await server.running())
      if (!isHit) throw error
    })
    await delay(ACT_PAUSE_MS)
  }
}

/** Sends small requests; returns how long they took, without those that a fault hit. */
async function probe(server: SoakedServer, over: AbortSignal): Promise<number[]> {
  const times: number[] = []
  while (!over.aborted) {
    const { url, key } = await server.running()
    const began = performance.now()
    const headers = { 'x-service-key': key }
    const answer = await fetch(`${url}/v2/transcription?limit=1`, { headers }).catch(
      () => undefined,
    )
    await answer?.arrayBuffer().catch(() => undefined)
    if (answer?.ok) times.push(performance.now() - began)
    await delay(PROBE_MS)
  }
  return times
}

/** A new key works at once, and no more once it is revoked. */
async function checkKeys(server: SoakedServer): Promise<void> {
  const child = await server.running()
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

/** What is deleted is gone from lists, and is not found. */
async function checkDeletion(server: SoakedServer): Promise<void> {
  const child = await server.running()
  const deleted = await server.clear()
  assert.deepEqual(await list(child, '/v2/transcription'), [])
  for (const id of deleted) {
    assert.equal((await call(child, `/v2/transcription/${id}`)).status, 404)
  }
}
