import { availableParallelism } from 'node:os'
import type { Log } from '../../log.ts'
import type { LiveEars, LiveUtterance } from '../live-ears.ts'
import type { WorkerPool } from '../pool.ts'
import type { WorkerRole } from '../protocol.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'
import { capacityOf } from './capacity.ts'

/** Seconds after which a process that has not answered is taken for hung; a busy machine is slower than a fast core. */
const LISTEN_PATIENCE = 60
const RECOGNISE_PATIENCE = 60
const RECOGNISE_PATIENCE_PER_SECOND = 2

/**
 * Lower goes first: what was said must be told, a first sign that somebody is heard comes before more of
 * the same, and measuring is for idle times.
 */
const priority = {
  check: -1,
  final: 0,
  firstPartial: 1,
  finalBehind: 2,
  partial: 3,
  partialBehind: 4,
  measure: 5,
}

/** What the live processes need. */
export type LiveEarsOptions = {
  start(role: WorkerRole, workers: number): WorkerPool
  workers: number
  /** Seconds between two partials of an utterance. */
  partialInterval: number
  /** Called when the first session is listened to. */
  onUsed(): void
  log: Log
}

/** Live recognition, and what its maker does with it. */
export type OwnLiveEars = LiveEars & {
  checkReady(options: { signal: AbortSignal; patience: number }): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the processes of live sessions: `workers` that recognise, and one that converts sound and
 * finds speech in it. Batches have processes of their own, to which the operating system prefers these once
 * they are used: a batch holds its worker for longer than a live session may wait.
 */
export function createLiveEars(options: LiveEarsOptions): OwnLiveEars {
  const { workers, partialInterval, log } = options
  const recognition = options.start('live', workers)
  const listening = options.start('listen', 1)
  const closing = new AbortController()
  let capacity: number | undefined
  let isUsed = false

  async function measure(): Promise<void> {
    const { signal } = closing
    const how = { signal, patience: RECOGNISE_PATIENCE, priority: priority.measure }
    const costs = await recognition.run({ kind: 'measure', partialInterval }, how)
    const fit = capacityOf(costs, Math.min(workers, availableParallelism()))
    capacity = fit.most
    log.info({ ...fit, ...costs }, 'live sessions that fit were measured')
  }
  const measured = measure().catch((error: unknown) => {
    if (!closing.signal.aborted) log.warn({ err: error }, 'live sessions could not be measured')
  })

  return {
    get capacity() {
      return capacity
    },
    listen(sound, request, { signal, isBehind = false }) {
      if (!isUsed) options.onUsed()
      isUsed = true
      const how = { signal, patience: LISTEN_PATIENCE, priority: isBehind ? 1 : 0 }
      return listening.run({ kind: 'listen', sound, request }, how)
    },
    recognizeFinal(utterance, { signal, isBehind = false, wantsVoice = false }) {
      const rank = isBehind ? priority.finalBehind : priority.final
      const how = { signal, patience: patienceFor(utterance), priority: rank }
      return recognition.run({ kind: 'final', utterance, wantsVoice }, how)
    },
    recognizePartial(utterance, { signal, draft = [], isFirst = false, isBehind = false }) {
      const usual = isFirst ? priority.firstPartial : priority.partial
      const rank = isBehind ? priority.partialBehind : usual
      const how = { signal, patience: patienceFor(utterance), priority: rank }
      return recognition.run({ kind: 'partial', utterance, draft, isFirst }, how)
    },
    async checkReady({ signal, patience }) {
      const how = { signal, patience, priority: priority.check }
      await Promise.all([recognition, listening].map((pool) => pool.run({ kind: 'check' }, how)))
    },
    async close() {
      closing.abort()
      await Promise.all([recognition.close(), listening.close(), measured])
    },
  }
}

function patienceFor({ segment: { start, end } }: LiveUtterance): number {
  return RECOGNISE_PATIENCE + (RECOGNISE_PATIENCE_PER_SECOND * (end - start)) / SAMPLE_RATE
}
