import type { Log } from '../../observability/log.ts'
import { threadStarter } from '../../workers/start-worker.ts'
import { SupervisedWorker, type WorkerOutcome } from '../../workers/supervised-worker.ts'
import type { Params } from '../add-ons/add-on.ts'
import type { AddOnStep, TransformStep, UtteranceWords } from './step-names.ts'
import { ThreadScheduler } from './thread-scheduler.ts'

/** A task of a session for the thread. */
export type TextTask =
  | { kind: 'transform'; name: TransformStep; utterance: UtteranceWords }
  | { kind: 'add-on'; name: AddOnStep; utterancesJson: string }

/**
 * A message to the thread. A session is opened before its first task. Its parameters travel as
 * JSON: for a large vocabulary that takes a third of the time of a structured clone.
 */
export type ToThread =
  | { kind: 'open'; session: string; params: string }
  | { kind: 'close'; session: string }
  | { kind: 'task'; session: string; task: TextTask }

/**
 * A message from the thread, one for each task. `fault` is the kind of an unexpected error, `ms`
 * the processor time of the task in milliseconds, and `warnings` are for the user and cover all
 * tasks of this step so far.
 */
export type FromTextThread = { ms?: number } & (
  | { kind: 'done'; value: unknown; fault?: string; warnings?: string[] }
  | { kind: 'failed'; fault: string }
)

/**
 * The account and the priority of a task: accounts take turns, then the lowest rank comes first.
 */
export type TextTaskOptions = {
  session: string
  account: string
  /** Sent to the thread before the first task. */
  params: Params
  rank: number
  signal: AbortSignal
}

/**
 * `failed`: it threw; `crashed`: the thread ended with it; `hung`: it timed out and the thread was
 * terminated.
 */
export type TaskOutcome = FromTextThread | { kind: 'crashed' } | { kind: 'hung' }

/** The options of `TextThread`. */
export type TextThreadOptions = {
  log: Log
  /** Timeout of a task in seconds, the start of the thread included. */
  timeout: number
  /**
   * Timeout in seconds of a step that this thread has already run for the session. Defaults to
   * `timeout`.
   */
  brief?: number | undefined
  /** The thread's entry file, for tests. */
  entry?: URL | undefined
}

type PendingTextTask = TextTaskOptions & { task: TextTask; settle: (outcome: TaskOutcome) => void }

/** Enough for the word lists, and several times for the largest vocabulary. */
const MAX_HEAP_MB = 512

/**
 * A thread that runs one task at a time. When it crashes or hangs, it loses only the task that was
 * running: the next task gets a new thread.
 */
export class TextThread {
  readonly #options: TextThreadOptions
  readonly #worker: SupervisedWorker<FromTextThread>
  /** The open sessions of the thread, and the steps that it has run for them. */
  readonly #known = new Map<string, Set<string>>()
  readonly #turns = new ThreadScheduler<PendingTextTask>(() => performance.now())
  #current: PendingTextTask | undefined
  #isClosed = false

  constructor(options: TextThreadOptions) {
    this.#options = options
    const { entry = new URL('text-thread-entry.ts', import.meta.url), log } = options
    this.#worker = new SupervisedWorker({
      start: threadStarter(entry, { maxHeapMb: MAX_HEAP_MB }),
      // The error message may quote the transcript.
      onError: ({ name }) => log.error({ name }, 'a realtime text thread crashed'),
      onLost: () => this.#known.clear(),
    })
  }

  /** Timeout of a task in seconds. */
  get timeout(): number {
    return this.#options.timeout
  }

  /** Runs a task. Rejects when it is aborted before it is done. */
  run(task: TextTask, options: TextTaskOptions): Promise<TaskOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<TaskOutcome>()
    const { signal } = options
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#isClosed) return Promise.resolve({ kind: 'crashed' })
    const onAbort = () => {
      this.#turns.remove(waiting)
      reject(signal.reason)
    }
    const settle = (outcome: TaskOutcome) => {
      signal.removeEventListener('abort', onAbort)
      resolve(outcome)
    }
    const waiting: PendingTextTask = { ...options, task, settle }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#turns.add(waiting)
    this.#next()
    return promise
  }

  /** Drops the state of a session that has ended. */
  drop(session: string): void {
    if (this.#known.delete(session)) this.#post({ kind: 'close', session })
  }

  /** Closes the thread. Waiting tasks end as if it had crashed. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { settle } of this.#turns.clear()) settle({ kind: 'crashed' })
    await this.#worker.close()
  }

  #next(): void {
    if (this.#current) return
    const current = this.#turns.take()
    if (!current) return
    this.#current = current
    const { session, params, task } = current
    this.#worker.start()
    if (!this.#known.has(session)) {
      this.#post({ kind: 'open', session, params: JSON.stringify(params) })
      this.#known.set(session, new Set())
    }
    const { timeout: usual, brief = usual } = this.#options
    const timeout = this.#known.get(session)!.has(task.name) ? brief : usual
    const message = { kind: 'task', session, task } satisfies ToThread
    const ended = this.#worker.run(message, { timeout, receive: (response) => response })
    void ended.then((outcome) => this.#end(current, outcome, timeout))
  }

  #end(current: PendingTextTask, outcome: WorkerOutcome<FromTextThread>, timeout: number): void {
    const { session, account, task } = current
    this.#current = undefined
    if ('response' in outcome) {
      const { response } = outcome
      this.#turns.charge(account, response.ms ?? 0)
      this.#known.get(session)?.add(task.name)
      current.settle(response)
    } else {
      const isHung = outcome.lost.reason === 'hung'
      if (isHung) this.#turns.charge(account, timeout * 1000)
      // Other tasks for the same step of the same session would probably crash the next thread,
      // too.
      const isSameStep = (other: PendingTextTask) =>
        other.session === session && other.task.name === task.name
      for (const { settle } of [current, ...this.#turns.removeAll(account, isSameStep)]) {
        settle({ kind: isHung ? 'hung' : 'crashed' })
      }
    }
    this.#next()
  }

  #post(message: ToThread): void {
    this.#worker.post(message)
  }
}
