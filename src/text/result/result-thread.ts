import { Worker } from 'node:worker_threads'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type AddOnError, brokenDown, timedOut } from './envelope.ts'
import {
  type Answers,
  type FromThread,
  openStep,
  type ResultTask,
  readStep,
  type Task,
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
export type TaskOptions = {
  words: number
  signal: AbortSignal
  /** Called when a step crashed the thread or timed out. */
  onLost?: (() => void) | undefined
}

/** Timeout of a step in seconds: a fixed part, and a part for each word of its input. */
const TIMEOUT = 30
const TIMEOUT_PER_WORD = 0.004
/**
 * Each lost step halves the timeout of the next one, down to this share: many that hang take no
 * longer than two.
 */
const LEAST_SHARE = 1 / 16
/** Many times what the transcript of the longest recording takes. */
const MAX_HEAP_MB = 1024

type Outcome<T> = { answer: T } | { lost: string | undefined } | { refused: string }

/**
 * A thread that runs one task at a time, started with the first one. A step that crashes it or
 * times out is left out, is reported in the result, and costs the other steps nothing: a new thread
 * replaces the old one.
 */
export class ResultThread {
  readonly #options: ResultThreadOptions
  #thread: Worker | undefined
  #nextId = 1

  constructor(options: ResultThreadOptions) {
    this.#options = options
  }

  /** Runs a task. Rejects when aborted, and with `internal` when a required step failed. */
  async perform<T extends Task>(task: T, options: TaskOptions): Promise<Answers[T['kind']]> {
    const { signal } = options
    const given: Record<string, AddOnError> = {}
    for (;;) {
      signal.throwIfAborted()
      const composition = { id: this.#nextId++, task, given, step: openStep() }
      const outcome = await this.#try<Answers[T['kind']]>(composition, options)
      if ('lost' in outcome && !signal.aborted) options.onLost?.()
      if ('answer' in outcome) return outcome.answer
      if ('refused' in outcome) throw new AppError('internal', outcome.refused)
      const { lost } = outcome
      signal.throwIfAborted()
      // No step was running: no add-on is to blame.
      if (lost === undefined) throw new AppError('internal', 'no result was made')
    }
  }

  /** Ends the thread, and with it the running task. A further task starts a new thread. */
  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  async #try<T>(composition: ResultTask, { words, signal }: TaskOptions): Promise<Outcome<T>> {
    const { log, timeout = TIMEOUT } = this.#options
    const { id, given } = composition
    const share = Math.max(LEAST_SHARE, 0.5 ** Object.keys(given).length)
    const seconds = (timeout + words * TIMEOUT_PER_WORD) * share
    const thread = this.#open()
    const ended = Promise.withResolvers<Outcome<T>>()
    let watchdog: NodeJS.Timeout | undefined

    /**
     * Gives up on the thread, which is no longer usable. The step that was running is not retried.
     */
    function lose(explain: (step: string) => AddOnError): void {
      const lost = readStep(composition.step)
      // A step that is already left out but crashes again anyway cannot be fixed by leaving it out
      // again.
      const isNew = lost !== undefined && !given[lost]
      if (isNew) given[lost] = explain(lost)
      ended.resolve({ lost: isNew ? lost : undefined })
    }
    function onMessage(message: FromThread): void {
      if (message.id !== id) return
      const { kind } = message
      if (kind !== 'fault') clearTimeout(watchdog)
      if (kind === 'fault') note(message.name, message.fault)
      else if (kind === 'done') ended.resolve({ answer: message.answer as T })
      else if (kind === 'refused') ended.resolve({ refused: message.message })
      else if (kind === 'step') begin(message.name)
      else {
        note(readStep(composition.step), message.fault)
        lose(brokenDown)
      }
    }
    function note(step: string | undefined, { name, frames }: SafeError): void {
      log.error({ step, error: name, frames }, 'an add-on threw what it should not')
    }
    function begin(name: string): void {
      watchdog = setTimeout(() => {
        lose(() => timedOut(name, seconds))
        discard()
      }, seconds * 1000)
    }
    const onExit = () => lose(brokenDown)
    /** The next task gets a new thread. */
    const discard = () => {
      if (this.#thread === thread) this.#thread = undefined
      void thread.terminate()
    }
    thread.on('message', onMessage)
    thread.once('exit', onExit)
    signal.addEventListener('abort', discard, { once: true })
    thread.ref()
    thread.postMessage(composition)
    try {
      const outcome = await ended.promise
      if ('lost' in outcome && !signal.aborted) {
        log.error({ step: outcome.lost }, 'an add-on broke down or hung')
      }
      return outcome
    } finally {
      clearTimeout(watchdog)
      thread.unref()
      thread.off('message', onMessage)
      thread.off('exit', onExit)
      signal.removeEventListener('abort', discard)
    }
  }

  #open(): Worker {
    if (this.#thread) return this.#thread
    const { entry = new URL('thread.ts', import.meta.url), log } = this.#options
    const thread = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    this.#thread = thread
    // The error message may quote a transcript.
    thread.on('error', (error) =>
      log.error({ name: error.name }, 'the thread of results broke down'),
    )
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = undefined
    })
    thread.unref()
    return thread
  }
}
