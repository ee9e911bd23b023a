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

/** What a thread is made from. */
export type ResultThreadOptions = {
  log: Log
  /** For tests: the program of the thread, and the seconds that a step may take. */
  entry?: URL
  timeout?: number
}

/** How long a task may take, which grows with the words that it is made of, and what ends it. */
export type TaskOptions = {
  words: number
  signal: AbortSignal
  /** Called when a step broke the thread down or took too long. */
  onLost?: (() => void) | undefined
}

/** Seconds that a step may take, whatever it is made of, and for each word of that. */
const TIMEOUT = 30
const TIMEOUT_PER_WORD = 0.004
/** Each step that is lost halves the time of the next one, down to this share: many that hang take no longer than two. */
const LEAST_SHARE = 1 / 16
/** More than the transcript of the longest recording takes, many times over. */
const MAX_HEAP_MB = 1024

type Outcome<T> = { answer: T } | { lost: string | undefined } | { refused: string }

/**
 * A thread that does one task at a time, started with the first one. A step that breaks it down or takes too long
 * is left out, says so in the result, and costs the others nothing: another thread takes its place.
 */
export class ResultThread {
  readonly #options: ResultThreadOptions
  #thread: Worker | undefined
  #nextId = 1

  constructor(options: ResultThreadOptions) {
    this.#options = options
  }

  /** Does a task; rejects when aborted, and with `internal` when a required step failed. */
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
      // In none: that is not the fault of an add-on.
      if (lost === undefined) throw new AppError('internal', 'no result was made')
    }
  }

  /** Ends the thread, and with it the task in hand; a further task starts another one. */
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

    /** The thread is of no more use: what it was at is not tried again. */
    function lose(explain: (step: string) => AddOnError): void {
      const lost = readStep(composition.step)
      // One that was left out and is still what went wrong is not left out by saying so again.
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
    /** What comes next gets another one. */
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
    // Its words may quote a transcript.
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
