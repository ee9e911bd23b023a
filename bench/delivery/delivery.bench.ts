/**
 * Measures deliveries of the events of ended jobs to a receiver that responds at once, alone and
 * beside a stalled receiver of the same account with as many events: first a backlog, then the
 * events of jobs that end at a constant rate. Then it measures the messages of one live session,
 * which are delivered one after the other. `--events N` for a quick run.
 */
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { report } from '../support/report.ts'
import { peakMemory } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { ACCOUNT, addWebhook, endNewJob, fillStore, queueSession } from './fill.ts'
import { type Outcome, outcomeOf, readQueued } from './outcome.ts'
import { startIpcProcess } from './processes.ts'
import type { ReceiverCommand, ReceiverReport } from './receiver-process.ts'
import type { SenderOrder, SenderReport } from './sender-process.ts'

const { values } = parseArgs({
  options: { events: { type: 'string', default: '10000' }, corpus: { type: 'string' } },
})
const EVENTS = Number(values.events)
/** Both runs alternate, so that other load on the machine affects both. */
const ROUNDS = 2
/** The events of a job: a callback, and webhooks for its creation and its end. */
const EVENTS_OF_JOB = 3
const JOBS = Math.ceil(EVENTS / EVENTS_OF_JOB)
const PACED = { jobs: 300, perSecond: 30 }
const MESSAGES = Math.min(2000, EVENTS)
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

const receivers = startIpcProcess<ReceiverCommand, ReceiverReport>(
  new URL('receiver-process.ts', import.meta.url),
)
const { healthy, stalled } = await receivers.receive('ready')
const callbackUrl = `${healthy}/callback`

type Run = {
  /** The events that were queued before the start, and those at a constant rate. */
  backlog: Outcome & { seconds: number }
  paced: Outcome
  maxStalled: number
  maxHeldMs: number
  bytes: number
}

const alone: Run[] = []
const besideStalled: Run[] = []
for (let round = 0; round < ROUNDS; round++) {
  alone.push(await run({ stalledEvents: 0 }))
  besideStalled.push(await run({ stalledEvents: EVENTS }))
}
const rates = [alone, besideStalled].map((runs) => rateOf(runs))
for (const [i, runs] of [alone, besideStalled].entries()) describe(runs, { hasStalled: i === 1 })
report({ bench: 'delivery', what: 'ratio', besideToAlone: rates[1]! / rates[0]! })
await runSession()
await receivers.stop()

/** Fills a store, delivers its events, and compares the arrivals with the store. */
async function run({ stalledEvents }: { stalledEvents: number }): Promise<Run> {
  const folder = await temporaryFolder()
  try {
    await fillStore(folder, async (db) => {
      // Created before the webhook, so that only the stalled receiver gets these events, and first
      // in the queue.
      const callbackUrl = `${stalled}/callback`
      for (let i = 0; i < stalledEvents; i++) await endNewJob(db, { callbackUrl })
      await addWebhook(db, `${healthy}/webhook`)
      for (let i = 0; i < JOBS; i++) await endNewJob(db, { callbackUrl: `${healthy}/callback` })
    })
    const queued = new Set(readQueued(folder, healthy).map(({ id }) => id))
    const sender = startSender(folder)
    const { at: began } = await sender.receive('began')
    await expect(queued.size)
    sender.tell({ ...PACED, callbackUrl })
    await expect(queued.size + PACED.jobs * EVENTS_OF_JOB)
    const bytes = await peakMemory(sender.process)
    sender.tell('close')
    const { maxHeldMs } = await sender.receive('closed')
    receivers.tell('tell')
    const { came, maxStalled } = await receivers.receive('came')
    const all = readQueued(folder, healthy)
    const sentIds = new Set(all.map(({ id }) => id))
    const [early, late] = [
      all.filter(({ id }) => queued.has(id)),
      all.filter(({ id }) => !queued.has(id)),
    ]
    const backlog = outcomeOf(
      early,
      came.filter(([id]) => queued.has(id) || !sentIds.has(id)),
      { began },
    )
    const paced = outcomeOf(
      late,
      came.filter(([id]) => sentIds.has(id) && !queued.has(id)),
      { began },
    )
    const seconds = (backlog.lastAt - began) / 1000
    return { backlog: { ...backlog, seconds }, paced, maxStalled, maxHeldMs, bytes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function runSession(): Promise<void> {
  const folder = await temporaryFolder()
  await fillStore(folder, (db) => queueSession(db, { callbackUrl, messages: MESSAGES }))
  const sender = startSender(folder)
  const { at: began } = await sender.receive('began')
  await expect(MESSAGES)
  sender.tell('close')
  await sender.receive('closed')
  receivers.tell('tell')
  const { came } = await receivers.receive('came')
  const { events, lastAt, lost, doubled, invented, outOfOrder } = outcomeOf(
    readQueued(folder, healthy),
    came,
    { began },
  )
  await rm(folder, { recursive: true })
  const perSecond = (events * 1000) / (lastAt - began)
  const counts = { lost, doubled, invented, outOfOrder }
  report({ bench: 'delivery', what: 'one live session', messages: events, perSecond, ...counts })
}

function startSender(folder: string) {
  return startIpcProcess<SenderOrder, SenderReport>(new URL('sender-process.ts', import.meta.url), {
    STENO_DATA_DIR: folder,
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
    STENO_WEBHOOK_SECRETS: `${ACCOUNT}:${SECRET}`,
  })
}

async function expect(expected: number): Promise<void> {
  receivers.tell({ expected })
  await receivers.receive('expected')
}

function rateOf(runs: readonly Run[]): number {
  return sum(runs, ({ backlog }) => backlog.events) / sum(runs, ({ backlog }) => backlog.seconds)
}

function describe(runs: readonly Run[], { hasStalled }: { hasStalled: boolean }): void {
  const both = (read: (outcome: Outcome) => number) =>
    sum(runs, ({ backlog, paced }) => read(backlog) + read(paced))
  report({
    bench: 'delivery',
    what: hasStalled ? 'beside a receiver that never answers' : 'alone',
    rounds: ROUNDS,
    events: runs[0]!.backlog.events,
    stalledEvents: hasStalled ? EVENTS : 0,
    perSecond: rateOf(runs),
    secondsToLast: runs.map(({ backlog }) => backlog.seconds),
    backlogMs: runs.map(({ backlog }) => backlog.waitMs),
    paced: PACED,
    pacedMs: runs.map(({ paced }) => paced.waitMs),
    lost: both(({ lost }) => lost),
    doubled: both(({ doubled }) => doubled),
    invented: both(({ invented }) => invented),
    outOfOrder: both(({ outOfOrder }) => outOfOrder),
    maxInFlightAtStalled: most(runs, ({ maxStalled }) => maxStalled),
    maxHeldMs: most(runs, ({ maxHeldMs }) => maxHeldMs),
    serverMB: most(runs, ({ bytes }) => bytes / 1e6),
  })
}

function sum(runs: readonly Run[], read: (run: Run) => number): number {
  return runs.reduce((total, run) => total + read(run), 0)
}

function most(runs: readonly Run[], read: (run: Run) => number): number {
  return Math.max(...runs.map(read))
}
