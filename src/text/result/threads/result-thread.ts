import { AppError } from '../../../errors.ts'
import type { Log } from '../../../observability/log.ts'
import { threadStarter } from '../../../workers/start-worker.ts'
import { SupervisedWorker } from '../../../workers/supervised-worker.ts'
import { type AddOnError, crashError, timeoutError } from '../steps/envelope.ts'
import {
  type BuilderTask,
  createStepName,
  type FromResultThread,
  type Responses,
  type ResultTask,
  readStepName,
} from './result-task.ts'
import type { SafeError } from './safe-error.ts'

/** The options of `ResultThread`. */
export type ResultThreadOptions = {
  log: Log
  /** For tests: the thread's entry file, and the timeout of a step in seconds. */
  entry?: URL
  timeout?: number
}

/** The number of words, with which the timeout of a task grows, and the signal that aborts it. */
export type BuilderTaskOptions = {
  words: number
  signal: AbortSignal
  /** Called when a step crashed the thread or timed out. */
  onLost?: (() => void) | undefined
}

/** Timeout of a step in seconds: a fixed part, and a part for each word of its input. */
const TIMEOUT = 30
const TIMEOUT_PER_WORD = 0.004
/**
 * The lowest share of the timeout. Each step that crashes or hangs halves the timeout of the next
 * one, so many steps that hang take no longer than two.
 */
const MIN_SHARE = 1 / 16
/** Many times as much as the transcript of the longest recording needs. */
const MAX_HEAP_MB = 1024

type ThreadResponse<T> = { response: T } | { refused: string } | { failed: true }
type ThreadOutcome<T> = { response: T } | { refused: string } | { lost: string | undefined }

/**
 * A thread that runs one task at a time; the first task starts it. A step that crashes or hangs is
 * left out and reported in the result; the other steps are not affected: a new thread replaces the
 * old one.
 */
export class ResultThread {
  readonly #options: ResultThreadOptions
  readonly #thread: SupervisedWorker<FromResultThread>
  #nextId = 1

  constructor(options: ResultThreadOptions) {
    this.#options = options
    const { entry = new URL('result-thread-entry.ts', import.meta.url), log } = options
    this.#thread = new SupervisedWorker({
      start: threadStarter(entry, { maxHeapMb: MAX_HEAP_MB }),
      // The error message may quote a transcript.
      onError: ({ name }) => log.error({ name }, 'a result thread crashed'),
    })
  }

  /** Runs a task. Rejects when aborted, and with `internal` when a required step failed. */
  async perform<T extends BuilderTask>(
    task: T,
    options: BuilderTaskOptions,
  ): Promise<Responses[T['kind']]> {
    const { signal } = options
    const failedSteps: Record<string, AddOnError> = {}
    for (;;) {
      signal.throwIfAborted()
      const resultTask = { id: this.#nextId++, task, failedSteps, step: createStepName() }
      const outcome = await this.#try<Responses[T['kind']]>(resultTask, options)
      if ('lost' in outcome && !signal.aborted) options.onLost?.()
      if ('response' in outcome) return outcome.response
      if ('refused' in outcome) throw new AppError('internal', outcome.refused)
      const { lost } = outcome
      signal.throwIfAborted()
      // No step was running, so no add-on caused it.
      if (lost === undefined) throw new AppError('internal', 'no result was made')
    }
  }

  /** Ends the thread, and with it the running task. A further task starts a new thread. */
  close(): Promise<void> {
    return this.#thread.close()
  }

  async #try<T>(
    resultTask: ResultTask,
    { words, signal }: BuilderTaskOptions,
  ): Promise<ThreadOutcome<T>> {
    const { log, timeout = TIMEOUT } = this.#options
    const { id, failedSteps } = resultTask
    const share = Math.max(MIN_SHARE, 0.5 ** Object.keys(failedSteps).length)
    const seconds = (timeout + words * TIMEOUT_PER_WORD) * share
    const note = (step: string | undefined, { name, frames }: SafeError) => {
      log.error({ step, error: name, frames }, 'an add-on threw an unexpected error')
    }
    const receive = (message: FromResultThread): ThreadResponse<T> | undefined => {
      if (message.id !== id) return undefined
      if (message.kind === 'fault') note(message.name, message.fault)
      else this.#thread.watch(message.kind === 'step' ? seconds : undefined)
      if (message.kind === 'done') return { response: message.response as T }
      if (message.kind === 'refused') return { refused: message.message }
      if (message.kind !== 'failed') return undefined
      note(readStepName(resultTask.step), message.fault)
      return { failed: true }
    }
    const ended = await this.#thread.run(resultTask, { receive, signal })
    if ('response' in ended && !('failed' in ended.response)) return ended.response
    const step = readStepName(resultTask.step)
    // A step that crashes although it is left out cannot be the cause.
    const lost = step !== undefined && !failedSteps[step] ? step : undefined
    const isHung = 'lost' in ended && ended.lost.reason === 'hung'
    if (lost !== undefined)
      failedSteps[lost] = isHung ? timeoutError(lost, seconds) : crashError(lost)
    if (!signal.aborted) log.error({ step: lost }, 'an add-on crashed or hung')
    return { lost }
  }
}
