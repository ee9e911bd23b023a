import { Worker } from 'node:worker_threads'
import type { Log } from '../../log.ts'
import type { Params } from '../add-on.ts'
import type { AddOnStep, TransformStep, UtteranceWords } from './step-names.ts'
import { Turns } from './turns.ts'

/** What a thread is to do for a session. */
export type Task =
  | { kind: 'change'; name: TransformStep; spoken: UtteranceWords }
  | { kind: 'find'; name: AddOnStep; said: string }

/**
 * To the thread: a session is made known before the first task for it. Its parameters come as JSON: a large
 * vocabulary is written as text in a third of the time that a structured clone takes.
 */
export type ToThread =
  | { kind: 'open'; session: string; params: string }
  | { kind: 'close'; session: string }
  | { kind: 'task'; session: string; task: Task }

/**
 * From the thread, once for each task; `fault` is the kind of error that nobody had foreseen, `ms` the processor time
 * that the task took in milliseconds, `warnings` what the customer should know of all tasks of this step so far.
 */
export type FromThread = { ms?: number } & (
  | { kind: 'done'; value: unknown; fault?: string; warnings?: string[] }
  | { kind: 'failed'; fault: string }
)

/** Whom a task is for, and when: accounts take turns, and then the lowest rank goes first. */
export type TaskOptions = {
  session: string
  account: string
  /** Made known to the thread before the first task. */
  params: Params
  rank: number
  signal: AbortSignal
}

/** `failed`: it threw; `crashed`: the thread ended with it; `hung`: it took too long and the thread was ended. */
export type TaskOutcome = FromThread | { kind: 'crashed' } | { kind: 'hung' }

/** What threads are made from. */
export type TextThreadOptions = {
  log: Log
  /** Seconds that a task may take, the start of the thread included. */
  timeout: number
  /** Seconds that a step may take which this thread has done for the session before; `patience` unless given. */
  brief?: number | undefined
  /** The program of the thread, for tests. */
  entry?: URL | undefined
}

type Waiting = TaskOptions & { task: Task; settle: (outcome: TaskOutcome) => void }

/** Word lists, and the largest vocabulary several times over. */
const MAX_HEAP_MB = 512

/**
 * A thread that does one task at a time. One that breaks down or hangs costs the task that it was at, and no
 * other: the next one finds another thread.
 */
export class TextThread {
  readonly #options: TextThreadOptions
  #worker: Worker | undefined
  /** Sessions that the worker knows, and the steps that it has done for them. */
  readonly #known = new Map<string, Set<string>>()
  readonly #turns = new Turns<Waiting>(() => performance.now())
  #current: Waiting | undefined
  #watchdog: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: TextThreadOptions) {
    this.#options = options
  }

  /** Seconds that a task may take. */
  get timeout(): number {
    return this.#options.timeout
  }

  /** Does a task; rejects when that is aborted before it is done. */
  run(task: Task, options: TaskOptions): Promise<TaskOutcome> {
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
    const waiting: Waiting = { ...options, task, settle }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#turns.add(waiting)
    this.#next()
    return promise
  }

  /** The session has ended: nothing is kept for it. */
  forget(session: string): void {
    if (this.#known.delete(session)) this.#post({ kind: 'close', session })
  }

  /** What waits is answered as if the thread had broken down. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { settle } of this.#turns.clear()) settle({ kind: 'crashed' })
    await this.#worker?.terminate()
  }

  #next(): void {
    if (this.#current) return
    const current = this.#turns.take()
    if (!current) return
    this.#current = current
    const { session, account, params, task } = current
    const worker = this.#open()
    worker.ref()
    const { timeout, brief = timeout } = this.#options
    const seconds = this.#known.get(session)?.has(task.name) ? brief : timeout
    this.#watchdog = setTimeout(() => {
      this.#discard()
      this.#turns.charge(account, seconds * 1000)
      this.#lose({ kind: 'hung' })
    }, seconds * 1000)
    if (!this.#known.has(session)) {
      this.#post({ kind: 'open', session, params: JSON.stringify(params) })
      this.#known.set(session, new Set())
    }
    this.#post({ kind: 'task', session, task })
  }

  /** The worker has answered. */
  #answer(answer: FromThread): void {
    if (this.#current) {
      const { session, account, task } = this.#current
      this.#turns.charge(account, answer.ms ?? 0)
      this.#known.get(session)?.add(task.name)
    }
    this.#end(answer)
  }

  /** The worker is gone: what waits for the same step of the same session would end the next one likewise. */
  #lose(outcome: TaskOutcome): void {
    if (this.#current) {
      const { session, account, task } = this.#current
      const alike = (other: Waiting) => other.session === session && other.task.name === task.name
      for (const { settle } of this.#turns.removeAll(account, alike)) settle(outcome)
    }
    this.#end(outcome)
  }

  #end(outcome: TaskOutcome): void {
    clearTimeout(this.#watchdog)
    this.#worker?.unref()
    const current = this.#current
    this.#current = undefined
    current?.settle(outcome)
    this.#next()
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message)
  }

  #discard(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#known.clear()
  }

  #open(): Worker {
    if (this.#worker) return this.#worker
    const { entry = new URL('thread.ts', import.meta.url), log } = this.#options
    const worker = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } })
    this.#worker = worker
    worker.on('message', (answer: FromThread) => {
      if (this.#worker === worker) this.#answer(answer)
    })
    // Its words may quote what was said.
    worker.on('error', ({ name }) => log.error({ name }, 'a thread of live texts broke down'))
    worker.once('exit', () => {
      if (this.#worker !== worker) return
      this.#discard()
      if (this.#current) this.#lose({ kind: 'crashed' })
    })
    return worker
  }
}
