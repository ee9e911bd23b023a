import { AppError } from '../../errors.ts'
import type { Batch, RecognizedSegment } from '../speech-engine.ts'
import type { PoolTaskOptions, TaskRunner } from './pool.ts'
import type { TaskResult, WorkerTask } from './worker-protocol.ts'

/** How tasks are joined into batches. */
export type BatchOptions = {
  /** The number of processes that recognize at the same time. */
  processes: number
  /** Maximum segments that are recognized together; a task with more runs alone. */
  maxSegments: number
  /** The priority of all tasks; default: that of each task. */
  priority?: number
}

type QueuedBatch = {
  batch: Batch
  options: PoolTaskOptions
  resolve: (segments: RecognizedSegment[]) => void
  reject: (error: unknown) => void
}

/**
 * Joins the recognition tasks of all jobs into batches: many segments at once take less time than
 * one by one. While all processes are busy, tasks wait; those with equal settings then run
 * together. If a batch fails, each of its tasks runs alone, so that one cannot fail the others.
 * Tasks of other kinds go to the pool unchanged.
 */
export function createBatchingRunner(pool: TaskRunner, options: BatchOptions): TaskRunner {
  const { processes, maxSegments, priority } = options
  const ranked = priority === undefined ? {} : { priority }
  const waiting: QueuedBatch[] = []
  let running = 0

  const take = () => takeTogether(waiting, maxSegments)

  async function runNext(): Promise<void> {
    if (running >= processes) return
    running++
    for (let pendingBatches = take(); pendingBatches.length > 0; pendingBatches = take())
      await perform(pendingBatches)
    running--
  }

  async function perform(pendingBatches: readonly QueuedBatch[]): Promise<void> {
    if (pendingBatches.length === 1) return performAlone(pendingBatches[0]!)
    const batches = pendingBatches.map(({ batch }) => batch)
    const timeout = pendingBatches.reduce((sum, { options }) => sum + options.timeout, 0)
    const signal = whenAllAbort(pendingBatches.map(({ options }) => options.signal))
    try {
      const taskOptions = { signal, timeout, ...ranked }
      const results = await pool.run({ kind: 'recognize-all', batches }, taskOptions)
      for (const [i, { resolve }] of pendingBatches.entries()) resolve(results[i]!)
    } catch (error) {
      if (error instanceof AppError && error.code === 'engine_unavailable') {
        for (const { reject } of pendingBatches) reject(error)
        return
      }
      for (const pendingBatch of pendingBatches) await performAlone(pendingBatch)
    }
  }

  async function performAlone({ batch, options, resolve, reject }: QueuedBatch): Promise<void> {
    if (options.signal.aborted) return
    try {
      resolve(await pool.run({ kind: 'recognize', ...batch }, { ...options, ...ranked }))
    } catch (error) {
      reject(error)
    }
  }

  return {
    run<T extends WorkerTask>(task: T, options: PoolTaskOptions): Promise<TaskResult[T['kind']]> {
      if (task.kind !== 'recognize') return pool.run(task, options)
      const { signal } = options
      signal.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<RecognizedSegment[]>()
      const { kind: _, ...batch } = task as Extract<WorkerTask, { kind: 'recognize' }>
      const pending: QueuedBatch = { batch, options, resolve, reject }
      waiting.push(pending)
      const cancel = () => {
        const place = waiting.indexOf(pending)
        if (place >= 0) waiting.splice(place, 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', cancel, { once: true })
      // Tasks of the same moment run together.
      queueMicrotask(() => void runNext())
      const settled = promise.finally(() => signal.removeEventListener('abort', cancel))
      return settled as Promise<TaskResult[T['kind']]>
    },
  }
}

/** Takes the first task and those that can run together with it. */
function takeTogether(waiting: QueuedBatch[], maxSegments: number): QueuedBatch[] {
  const takenBatches: QueuedBatch[] = []
  let segments = 0
  for (const pendingBatch of [...waiting]) {
    const first = takenBatches[0] ?? pendingBatch
    const size = segments + pendingBatch.batch.segments.length
    if (settingsOf(pendingBatch.batch) !== settingsOf(first.batch)) continue
    if (takenBatches.length > 0 && size > maxSegments) break
    waiting.splice(waiting.indexOf(pendingBatch), 1)
    takenBatches.push(pendingBatch)
    segments = size
  }
  return takenBatches
}

/** Returns a key of the settings that must be equal for batches to be recognized together. */
function settingsOf({ model, language, languages, vocabulary }: Batch): string {
  return JSON.stringify([model, language, languages, vocabulary])
}

/**
 * Returns a signal that aborts once all `signals` have: canceling one task does not cancel the
 * others.
 */
function whenAllAbort(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  let remainingSignals = signals.length
  for (const signal of signals) {
    const onAbort = () => {
      if (--remainingSignals === 0) controller.abort()
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  }
  return controller.signal
}
