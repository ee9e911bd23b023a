import type { Transferable } from 'node:worker_threads'
import { watchStarvation } from './cpu-time.ts'
import type { Exit, RunningWorker, StartWorker } from './start-worker.ts'

/** The options of `SupervisedWorker`. */
export type WorkerOptions<Message> = {
  start: StartWorker
  /** Default: the worker takes tasks at once, and the first task starts it. */
  loading?: LoadOptions<Message>
  /** Called with an error of the worker, which ends because of it. */
  onError?: (error: Error) => void
  /** Called when a timeout, in seconds, has passed and the worker is killed. */
  onHang?: (seconds: number) => void
  /** Called when the worker ended, unless it was closed, before its task settles. */
  onLost?: (loss: WorkerExit) => void
}

/**
 * Options of a worker that loads before it takes tasks. It is started by `start` and replaced when
 * it ends; one that ended while loading is replaced after 1, 2, 4 … seconds.
 */
export type LoadOptions<Message> = {
  /** Seconds. */
  timeout: number
  /** Returns whether its first message reports that it is ready. If not, it is killed. */
  isReady(message: Message): boolean
  onReady(): void
}

/** A worker is loading until it is ready, then idle, and busy while it has a task. */
export type WorkerState = 'ended' | 'loading' | 'idle' | 'busy'

/**
 * A worker that ended: by itself, after a timeout, because its task was canceled, or by `close`.
 * `cause` is the signal or exit code, `state` its state before, `stderr` the end of its error
 * output if that is piped.
 */
export type WorkerExit = {
  cause: string
  reason: 'crashed' | 'hung' | 'canceled' | 'closed'
  pid: number | undefined
  state: WorkerState
  stderr: string
}

/** How a task ended: with a response, or with its worker. */
export type WorkerOutcome<Answer> = { response: Answer } | { lost: WorkerExit }

/** How a task is sent, answered, timed and canceled. */
export type TaskOptions<Message, Answer> = {
  transfer?: readonly Transferable[] | undefined
  /**
   * Seconds after which the worker is considered hung and killed, unless a busy machine starves it.
   * No limit by default.
   */
  timeout?: number
  /** Handles each message of the worker; anything but undefined is the response. */
  receive(message: Message): Answer | undefined
  signal?: AbortSignal
  /**
   * Sent when `signal` aborts; the task may take `timeout` more seconds. Default: killed at once.
   */
  cancel?: { message: unknown; timeout: number }
}

type Instance = {
  worker: RunningWorker
  state: WorkerState
  ended: PromiseWithResolvers<void>
  ending?: WorkerExit['reason']
  task?: { receive(message: unknown): unknown; settle(outcome: WorkerOutcome<unknown>): void }
  watchdog?: NodeJS.Timeout
}

/** The longest pause before a worker that never became ready is replaced, in seconds. */
const MAX_PAUSE = 30

/**
 * A process or thread that runs one task at a time. When it crashes or hangs, it loses that task
 * only: another worker replaces it.
 */
export class SupervisedWorker<Message> {
  readonly #options: WorkerOptions<Message>
  #instance: Instance | undefined
  #failures = 0
  #restart: NodeJS.Timeout | undefined

  constructor(options: WorkerOptions<Message>) {
    this.#options = options
  }

  get state(): WorkerState {
    return this.#instance?.state ?? 'ended'
  }

  get pid(): number | undefined {
    return this.#instance?.worker.pid
  }

  /** Starts the worker unless it is running. */
  start(): void {
    if (this.#instance) return
    const { start, loading, onError } = this.#options
    const worker = start<Message>({
      onMessage: (message) => this.#receive(instance, message),
      onError: (error) => onError?.(error),
      onExit: (exit) => this.#end(instance, exit),
    })
    const ended = Promise.withResolvers<void>()
    const instance: Instance = { worker, state: loading ? 'loading' : 'idle', ended }
    this.#instance = instance
    if (loading) this.#watch(instance, loading.timeout)
  }

  /** Sends a message that has no response; does nothing without a worker. */
  post(message: unknown): void {
    this.#instance?.worker.send(message)
  }

  /** Runs a task. The worker must be idle, or is started when it needs no loading. */
  run<Answer>(
    message: unknown,
    options: TaskOptions<Message, Answer>,
  ): Promise<WorkerOutcome<Answer>> {
    this.start()
    const instance = this.#instance!
    if (instance.state !== 'idle')
      throw new Error(`a worker that is ${instance.state} takes no task`)
    const { promise, resolve } = Promise.withResolvers<WorkerOutcome<unknown>>()
    const { transfer, timeout, receive, signal, cancel } = options
    const onAbort = () => {
      if (!cancel) return this.#kill(instance, 'canceled')
      instance.worker.send(cancel.message)
      this.#watch(instance, cancel.timeout)
    }
    const settle = (outcome: WorkerOutcome<unknown>) => {
      signal?.removeEventListener('abort', onAbort)
      resolve(outcome)
    }
    instance.state = 'busy'
    instance.task = { receive: receive as (message: unknown) => unknown, settle }
    signal?.addEventListener('abort', onAbort, { once: true })
    instance.worker.setBusy(true)
    this.#watch(instance, timeout)
    instance.worker.send(message, transfer)
    return promise as Promise<WorkerOutcome<Answer>>
  }

  /** Replaces the timeout of the running task, in seconds from now; undefined ends it. */
  watch(seconds: number | undefined): void {
    if (this.#instance) this.#watch(this.#instance, seconds)
  }

  /** Ends the worker, and with it the running task. A further task or `start` starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#restart)
    const instance = this.#instance
    if (!instance) return
    this.#instance = undefined
    stopWatching(instance)
    instance.ending = 'closed'
    // Keeps this process alive until the worker has ended.
    instance.worker.setBusy(true)
    instance.worker.kill()
    await instance.ended.promise
  }

  #receive(instance: Instance, message: Message): void {
    if (instance.ending) return
    if (instance.state !== 'loading') {
      const response = instance.task?.receive(message)
      if (response !== undefined) this.#settle(instance, { response })
      return
    }
    const { isReady, onReady } = this.#options.loading!
    if (isReady(message)) {
      stopWatching(instance)
      this.#failures = 0
      instance.state = 'idle'
      onReady()
    } else this.#kill(instance, 'crashed')
  }

  #settle(instance: Instance, outcome: WorkerOutcome<unknown>): void {
    const { task } = instance
    delete instance.task
    stopWatching(instance)
    instance.state = 'idle'
    instance.worker.setBusy(false)
    task?.settle(outcome)
  }

  #watch(instance: Instance, seconds: number | undefined): void {
    stopWatching(instance)
    if (seconds === undefined || instance.ending) return
    // The processor time is read from half of the timeout on: few tasks take that long, so the
    // others cost nothing.
    const half = seconds / 2
    let isStarved: (() => Promise<boolean>) | undefined
    const check = async () => {
      const isFirst = !isStarved
      isStarved ??= await watchStarvation(instance.worker.cpu, half)
      const mayGoOn = isFirst || (await isStarved())
      // The task, or its timeout, may have ended while the processor time was read.
      if (instance.watchdog !== watchdog) return
      if (mayGoOn) return wait()
      this.#options.onHang?.(seconds)
      this.#kill(instance, 'hung')
    }
    let watchdog: NodeJS.Timeout
    const wait = () => {
      watchdog = instance.watchdog = setTimeout(check, half * 1000)
    }
    wait()
  }

  #kill(instance: Instance, reason: WorkerExit['reason']): void {
    if (instance.ending) return
    stopWatching(instance)
    instance.ending = reason
    instance.worker.kill()
  }

  #end(instance: Instance, { code, signal, stderr }: Exit): void {
    const { state, worker, ending: reason = 'crashed' } = instance
    if (this.#instance === instance) this.#instance = undefined
    const lost = { cause: signal ?? `code ${code}`, reason, pid: worker.pid, state, stderr }
    if (reason !== 'closed') this.#options.onLost?.(lost)
    this.#settle(instance, { lost })
    instance.ended.resolve()
    if (reason === 'closed' || !this.#options.loading) return
    if (state === 'loading') this.#startLater()
    else this.start()
  }

  /**
   * Restarts after a pause, since a worker that never became ready would probably fail again at
   * once.
   */
  #startLater(): void {
    const pause = Math.min(2 ** this.#failures++, MAX_PAUSE)
    this.#restart = setTimeout(() => this.start(), pause * 1000).unref()
  }
}

function stopWatching(instance: Instance): void {
  clearTimeout(instance.watchdog)
  delete instance.watchdog
}
