import { availableParallelism } from 'node:os'
import type { Log } from '../../log.ts'
import type { LiveRecognizer, LiveUtterance } from '../live-recognizer.ts'
import type { RecognitionSettings } from '../recognizer.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'
import type { TaskRunner, WorkerPool } from '../workers/pool.ts'
import type { WorkerRole } from '../workers/protocol.ts'
import { capacityOf } from './capacity.ts'
import { identifyUtterance } from './identify-utterance.ts'

/**
 * Seconds after which a process that has not answered is considered hung; a busy machine is slower
 * than a fast core.
 */
const LISTEN_TIMEOUT = 60
const RECOGNIZE_TIMEOUT = 60
const RECOGNIZE_TIMEOUT_PER_SECOND = 2

/**
 * Lower runs first: finals must be sent, the first partial of an utterance comes before further
 * ones, and measuring is for idle times.
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

/** Dependencies of the live processes. */
export type LiveRecognizerOptions = {
  start(role: WorkerRole, workers: number): WorkerPool
  /** Returns the processes that have a model; `usual` have the embedded ones. */
  processesOf(model: string, usual: WorkerPool): TaskRunner
  workers: number
  /** Seconds between two partials of an utterance. */
  partialInterval: number
  /** Called when the first session sends audio. */
  onUsed(): void
  log: Log
}

/** Live recognition, and what its owner controls. */
export type LiveRecognizerClient = LiveRecognizer & {
  checkReady(options: { signal: AbortSignal; timeout: number }): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the processes of live sessions: `workers` that recognize, and one that converts audio and
 * detects speech. Batches have processes of their own, and the operating system prefers the live
 * ones once they are used: a batch holds its worker for longer than a live session may wait.
 */
export function createLiveRecognizer(options: LiveRecognizerOptions): LiveRecognizerClient {
  const { workers, partialInterval, log } = options
  const recognition = options.start('live', workers)
  const listening = options.start('vad', 1)
  const closing = new AbortController()
  let capacity: number | undefined
  let isUsed = false

  async function measure(): Promise<void> {
    const { signal } = closing
    const how = { signal, timeout: RECOGNIZE_TIMEOUT, priority: priority.measure }
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
    listen(audio, request, { signal, isBehind = false }) {
      if (!isUsed) options.onUsed()
      isUsed = true
      const how = { signal, timeout: LISTEN_TIMEOUT, priority: isBehind ? 1 : 0 }
      return listening.run({ kind: 'vad', audio, request }, how)
    },
    async recognizeFinal(utterance, requested) {
      const { signal, isBehind = false, wantsSpeaker = false } = requested
      const rank = isBehind ? priority.finalBehind : priority.final
      const how = { signal, timeout: timeoutFor(utterance), priority: rank }
      const processesOf = (model: string) => options.processesOf(model, recognition)
      const { identification, languageBefore } = requested
      const identified =
        identification &&
        (await identifyUtterance(utterance, identification, {
          identify: (task) => processesOf(task.model).run({ kind: 'identify', ...task }, how),
          languageBefore,
        }))
      const settings = settingsOf(identified?.settings ?? requested)
      const task = { kind: 'final' as const, utterance, wantsSpeaker, ...settings }
      return { ...(await processesOf(task.model).run(task, how)), ...identified?.found }
    },
    recognizePartial(utterance, requested) {
      const { signal, draft = [], isFirst = false, isBehind = false } = requested
      const usual = isFirst ? priority.firstPartial : priority.partial
      const rank = isBehind ? priority.partialBehind : usual
      const how = { signal, timeout: timeoutFor(utterance), priority: rank }
      const open = { utterance, draft, isFirst }
      const task = { kind: 'partial' as const, ...open, ...settingsOf(requested) }
      return options.processesOf(task.model, recognition).run(task, how)
    },
    async checkReady({ signal, timeout }) {
      const how = { signal, timeout, priority: priority.check }
      await Promise.all([recognition, listening].map((pool) => pool.run({ kind: 'check' }, how)))
    },
    async close() {
      closing.abort()
      await Promise.all([recognition.close(), listening.close(), measured])
    },
  }
}

function timeoutFor({ segment: { start, end } }: LiveUtterance): number {
  return RECOGNIZE_TIMEOUT + (RECOGNIZE_TIMEOUT_PER_SECOND * (end - start)) / SAMPLE_RATE
}

function settingsOf(settings: RecognitionSettings): RecognitionSettings {
  const { model, language, languages, vocabulary } = settings
  return { model, language, languages, vocabulary }
}
