import { availableParallelism } from 'node:os'
import type { Log } from '../../observability/log.ts'
import type { RecognitionSettings } from '../engines/recognizer.ts'
import type { TaskRunner, WorkerPool } from '../workers/pool.ts'
import { TASK_TIMEOUT_S, timeoutFor } from '../workers/task-timeouts.ts'
import type { WorkerRole } from '../workers/worker-protocol.ts'
import { type CapacityOptions, joinCosts, type LiveCapacity, measureCapacity } from './capacity.ts'
import { fuseFinals } from './fuse-finals.ts'
import { identifyUtterance } from './identify-utterance.ts'
import {
  type FinalResult,
  type LiveEngine,
  type LiveUtterance,
  MAX_PARTIAL_INTERVAL_FACTOR,
  type PartialResult,
} from './live-engine.ts'
import { createLoadMeter, type LoadMeter } from './load-meter.ts'
import { createPartialLimiter, type PartialLimiter } from './partial-limiter.ts'

/** Timeout in seconds per second of audio; a busy machine is slower than a fast core. */
const RECOGNIZE_TIMEOUT_PER_SECOND = 2

/**
 * Above this load, or with as many pending finals as cores, finals are decoded without beam search
 * (decision 0119), which doubles their time.
 */
const SEARCH_LOAD = 0.5

/**
 * Lower runs first: finals are not optional, the first partial of an utterance comes before further
 * ones, and measurements come last.
 */
const priority = {
  check: -1,
  final: 0,
  firstPartial: 1,
  lowPriorityFinal: 2,
  partial: 3,
  lowPriorityPartial: 4,
  measure: 5,
}

/** Dependencies of the live processes. */
export type LiveEngineOptions = {
  start(role: Extract<WorkerRole, 'live' | 'partials' | 'vad'>, workers: number): WorkerPool
  /** Returns the processes that have a model; `bundled` is the pool of the bundled models. */
  processesOf(model: string, bundled: WorkerPool): TaskRunner
  workers: number
  /** Seconds between two partials of an utterance, on a machine that is not busy. */
  partialInterval: number
  /** Whether to measure how many sessions fit; default: true. */
  measuresCapacity?: boolean
  /** Called when the first session sends audio. */
  onFirstAudio(): void
  log: Log
}

/** Live recognition, and what its owner controls. */
export type LiveEngineClient = LiveEngine & {
  checkReady(options: { signal: AbortSignal; timeout: number }): Promise<void>
  close(): Promise<void>
}

/**
 * Starts the processes of live sessions: `workers` that recognize utterances that have ended, one
 * more than half as many for open ones, and one that converts audio and detects speech. The first
 * words of an utterance then wait for a small model at most, and no process holds both models.
 * Batches have processes of their own, and the operating system prefers the live ones once they are
 * used: a batch holds its worker for longer than a live session may wait.
 */
export function createLiveEngine(options: LiveEngineOptions): LiveEngineClient {
  const { workers, partialInterval, measuresCapacity = true, log } = options
  const cores = Math.min(workers, availableParallelism())
  const finals = options.start('live', workers)
  const partials = options.start('partials', Math.floor(workers / 2) + 1)
  const vadPool = options.start('vad', 1)
  const pools = [finals, partials, vadPool]
  const meter = createLoadMeter(cores)
  const limiter = createPartialLimiter(cores)
  const closing = new AbortController()
  let isUsed = false
  let pendingFinals = 0

  const measureOptions: MeasureOptions = {
    cores,
    log,
    signal: closing.signal,
    interval: partialInterval * MAX_PARTIAL_INTERVAL_FACTOR,
    // A measurement would delay the sessions of its process.
    mayRepeat: () => !isUsed,
  }
  const measuring = measuresCapacity
    ? startMeasuring([finals, partials], measureOptions)
    : undefined

  return {
    get capacity() {
      return measuring?.latest?.sessions
    },
    get weightWithoutPartials() {
      return measuring?.latest?.weightWithoutPartials ?? 1
    },
    get load() {
      return meter.load
    },
    detectSpeech(audio, request, { signal, isLowPriority = false }) {
      if (!isUsed) options.onFirstAudio()
      isUsed = true
      const taskOptions = { signal, timeout: TASK_TIMEOUT_S, priority: isLowPriority ? 1 : 0 }
      return meter.during(vadPool.run({ kind: 'vad', audio, request }, taskOptions), {
        isLowPriority,
      })
    },
    recognizeFinal(utterance, requested) {
      const processesOf = (model: string) => options.processesOf(model, finals)
      const isUrgent = meter.load > SEARCH_LOAD || pendingFinals >= cores
      pendingFinals++
      const final = recognizeFinal(utterance, requested, { processesOf, meter, isUrgent })
      const settled = final.finally(() => pendingFinals--)
      return requested.isLowPriority ? settled : limiter.during(settled)
    },
    recognizePartial(utterance, requested) {
      const processes = options.processesOf(requested.model, partials)
      return recognizePartial(utterance, requested, { processes, limiter, meter })
    },
    async checkReady({ signal, timeout }) {
      const taskOptions = { signal, timeout, priority: priority.check }
      await Promise.all(pools.map((pool) => pool.run({ kind: 'check' }, taskOptions)))
    },
    async close() {
      closing.abort()
      await Promise.all([...pools.map((pool) => pool.close()), measuring?.ended])
    },
  }
}

type MeasureOptions = Pick<CapacityOptions, 'cores' | 'mayRepeat' | 'signal'> & {
  /** Seconds between two partials. */
  interval: number
  log: Log
}

/**
 * Measures in the background how many sessions fit; `latest` is undefined until the first result.
 */
function startMeasuring(
  pools: readonly WorkerPool[],
  { interval, log, ...options }: MeasureOptions,
): { latest: LiveCapacity | undefined; ended: Promise<void> } {
  const { signal } = options
  const measure = () => measureCosts(pools, interval, signal)
  async function run(): Promise<void> {
    try {
      for await (const capacity of measureCapacity({ ...options, measure })) {
        const isNew = capacity.sessions !== measuring.latest?.sessions
        measuring.latest = capacity
        if (isNew) log.info(capacity, 'measured how many live sessions fit')
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'cannot measure how many live sessions fit')
    }
  }
  const measuring = { latest: undefined as LiveCapacity | undefined, ended: Promise.resolve() }
  measuring.ended = run()
  return measuring
}

async function measureCosts(
  pools: readonly WorkerPool[],
  interval: number,
  signal: AbortSignal,
): Promise<ReturnType<typeof joinCosts>> {
  const taskOptions = { signal, timeout: TASK_TIMEOUT_S, priority: priority.measure }
  return joinCosts(
    await Promise.all(pools.map((pool) => pool.run({ kind: 'measure' }, taskOptions))),
    interval,
  )
}

function partialPriority({
  isFirst,
  isLowPriority,
}: {
  isFirst: boolean
  isLowPriority: boolean
}): number {
  if (isLowPriority) return priority.lowPriorityPartial
  return isFirst ? priority.firstPartial : priority.partial
}

type Finals = {
  /** Returns the processes that have a model. */
  processesOf(model: string): TaskRunner
  meter: LoadMeter
  isUrgent: boolean
}

/** Recognizes an utterance that has ended: by one model, or by two, whose words are fused. */
async function recognizeFinal(
  utterance: LiveUtterance,
  requested: Parameters<LiveEngine['recognizeFinal']>[1],
  { processesOf, meter, isUrgent }: Finals,
): Promise<FinalResult> {
  const { signal, isLowPriority = false, wantsEmbedding = false, draft } = requested
  const rank = isLowPriority ? priority.lowPriorityFinal : priority.final
  const taskOptions = {
    signal,
    timeout: timeoutOf(utterance),
    priority: rank,
    // A low-priority task may be preempted: its session is already late, and the task would hold a
    // worker for up to a second.
    isPreemptible: isLowPriority,
  }
  const { identification, languageBefore } = requested
  const identified =
    identification &&
    (await identifyUtterance(utterance, identification, {
      identify: (task) => processesOf(task.model).run({ kind: 'identify', ...task }, taskOptions),
      languageBefore,
    }))
  const chosen = identified?.settings ?? requested
  const ended = { utterance, draft, wantsEmbedding, isUrgent }
  const task = { kind: 'final' as const, ...ended, ...settingsOf(chosen) }
  const first = meter.during(processesOf(task.model).run(task, taskOptions), { isLowPriority })
  const { fusedWith } = chosen
  if (fusedWith === undefined) return { ...(await first), ...identified?.resultFields }
  const otherTask = { ...task, model: fusedWith, wantsEmbedding: false }
  const second = (signal: AbortSignal) => {
    return meter.during(processesOf(fusedWith).run(otherTask, { ...taskOptions, signal }), {
      isLowPriority,
    })
  }
  return { ...(await fuseFinals({ first, second, signal })), ...identified?.resultFields }
}

type Partials = Pick<Finals, 'meter'> & { processes: TaskRunner; limiter: PartialLimiter }

/** Recognizes an open utterance: its first partial at once, further ones through the limiter. */
function recognizePartial(
  utterance: LiveUtterance,
  requested: Parameters<LiveEngine['recognizePartial']>[1],
  { processes, limiter, meter }: Partials,
): Promise<PartialResult> {
  const { signal, draft = [], isFirst = false, isLowPriority = false } = requested
  const rank = partialPriority({ isFirst, isLowPriority })
  const timeout = timeoutOf(utterance)
  const taskOptions = { signal, timeout, priority: rank, isPreemptible: isLowPriority }
  const open = { utterance, draft, isFirst }
  const task = { kind: 'partial' as const, ...open, ...settingsOf(requested) }
  const start = () => meter.during(processes.run(task, taskOptions), { isLowPriority })
  // A low-priority task is preempted by others, so it does not wait for a free core.
  return isFirst || isLowPriority ? start() : limiter.whenFree(start, signal)
}

function timeoutOf({ segment, context = segment }: LiveUtterance): number {
  return timeoutFor([context], RECOGNIZE_TIMEOUT_PER_SECOND)
}

function settingsOf(settings: RecognitionSettings): RecognitionSettings {
  const { model, language, languages, vocabulary } = settings
  return { model, language, languages, vocabulary }
}
