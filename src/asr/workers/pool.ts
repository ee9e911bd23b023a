import { type ChildProcess, fork } from 'node:child_process'
import { setPriority } from 'node:os'
import { bareEnvironment } from '../../audio/bare-environment.ts'
import { AppError, fromPlain } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { FromWorker, Task, TaskResult, ToWorker } from './protocol.ts'

/** The processes of a pool. */
export type PoolOptions = {
  /** Module that each worker process runs, and its arguments. */
  entry: URL
  args: readonly string[]
  workers: number
  log: Log
  /** Called when a process ends by itself. */
  onLost?: () => void
}

/** How one task is canceled and ranked. */
export type TaskOptions = {
  signal: AbortSignal
  /** Seconds after which a worker that has not answered is considered hung and killed. */
  timeout: number
  /** Lower runs first; equal priorities run in the order of the calls. */
  priority?: number
}

/** Seconds within which a worker must load its models. */
const LOAD_TIMEOUT = 120
/**
 * Seconds that a canceled task may still take; it checks for cancellation between two decoder
 * steps.
 */
const CANCEL_TIMEOUT = 30
/** A worker that cannot start is restarted after 1, 2, 4 … at most so many seconds. */
const MAX_PAUSE = 30
type Waiting = {
  task: Task
  options: TaskOptions
  resolve: (result: TaskResult[Task['kind']]) => void
  reject: (error: unknown) => void
}

type Worker = {
  process: ChildProcess
  state: 'loading' | 'idle' | 'busy'
  id: number
  current: Waiting | undefined
  watchdog: NodeJS.Timeout | undefined
}

/**
 * Worker processes for recognition, one per core, and the queue in front of them. A worker is
 * loading until its models are in memory, then idle, and busy while it has a task. When one
 * crashes, exceeds its timeout or does not stop a canceled task, its task is rejected with
 * `engine_failed` and another process replaces it; the server notices nothing else.
 */
export class WorkerPool {
  #options: PoolOptions
  #workers = new Set<Worker>()
  #waiting: Waiting[] = []
  #nextId = 1
  #closed = false
  #failures = 0
  #broken: AppError | undefined
  #niceness = 0

  constructor(options: PoolOptions) {
    this.#options = options
  }

  start(): void {
    for (let i = 0; i < this.#options.workers; i++) this.#spawn()
  }

  /** Runs one task in the next free worker. */
  run<T extends Task>(task: T, options: TaskOptions): Promise<TaskResult[T['kind']]> {
    const { signal } = options
    signal.throwIfAborted()
    if (this.#closed) throw new AppError('engine_unavailable', 'it is closed')
    if (this.#broken && this.#workers.size === 0) throw this.#broken
    const { promise, resolve, reject } = Promise.withResolvers<TaskResult[Task['kind']]>()
    const waiting: Waiting = { task, options, resolve, reject }
    const { priority = 0 } = options
    const at = this.#waiting.findIndex((other) => (other.options.priority ?? 0) > priority)
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, waiting)
    const cancel = () => this.#cancel(waiting)
    signal.addEventListener('abort', cancel, { once: true })
    this.#dispatch()
    const settled = promise.finally(() => signal.removeEventListener('abort', cancel))
    return settled as Promise<TaskResult[T['kind']]>
  }

  /** Raises the niceness of the processes, for good: a higher niceness gets less of a busy core. */
  yieldTo(niceness: number): void {
    this.#niceness = niceness
    for (const worker of this.#workers) lowerPriority(worker.process, niceness)
  }

  /** Ends all workers; rejects waiting and running tasks. */
  async close(): Promise<void> {
    this.#closed = true
    const error = new AppError('engine_unavailable', 'it is closed')
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
    const ended = [...this.#workers].map(({ process: child }) => {
      return new Promise((resolve) => child.once('close', resolve))
    })
    for (const worker of this.#workers) {
      worker.current?.reject(error)
      worker.process.kill('SIGKILL')
    }
    await Promise.all(ended)
  }

  #spawn(): void {
    const { entry, args } = this.#options
    const child = fork(entry, args, {
      env: bareEnvironment(),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    lowerPriority(child, this.#niceness)
    const worker: Worker = {
      process: child,
      state: 'loading',
      id: 0,
      current: undefined,
      watchdog: undefined,
    }
    this.#workers.add(worker)
    this.#watch(worker, LOAD_TIMEOUT)
    child.on('message', (message: FromWorker) => this.#receive(worker, message))
    child.on('error', (error) => this.#options.log.error({ err: error }, 'worker process failed'))
    // 'close' also follows a process that could not be started, 'exit' does not.
    child.once('close', (code, signal) => this.#replace(worker, signal ?? `code ${code}`))
  }

  #receive(worker: Worker, message: FromWorker): void {
    clearTimeout(worker.watchdog)
    if (message.type === 'broken') {
      this.#broken = fromPlain(message.error)
      worker.process.kill('SIGKILL')
      return
    }
    if (message.type === 'ready') {
      this.#failures = 0
      this.#broken = undefined
    } else if (message.id === worker.id) {
      if (message.type === 'result') worker.current?.resolve(message.result)
      else worker.current?.reject(fromPlain(message.error))
    }
    worker.current = undefined
    worker.state = 'idle'
    this.#dispatch()
  }

  #dispatch(): void {
    for (const worker of this.#workers) {
      if (worker.state !== 'idle') continue
      const next = this.#waiting.shift()
      if (!next) return
      worker.state = 'busy'
      worker.id = this.#nextId++
      worker.current = next
      this.#watch(worker, next.options.timeout)
      this.#send(worker, { id: worker.id, task: next.task })
    }
  }

  /** Asks a running task to stop between two decoder steps; the watchdog enforces it. */
  #cancel(waiting: Waiting): void {
    waiting.reject(waiting.options.signal.reason)
    const at = this.#waiting.indexOf(waiting)
    if (at >= 0) this.#waiting.splice(at, 1)
    for (const worker of this.#workers) {
      if (worker.current !== waiting) continue
      this.#send(worker, { id: worker.id, cancel: true })
      this.#watch(worker, CANCEL_TIMEOUT)
    }
  }

  #send(worker: Worker, message: ToWorker): void {
    // A process that just died reports it by its exit, not here.
    worker.process.send(message, () => {})
  }

  #watch(worker: Worker, seconds: number): void {
    clearTimeout(worker.watchdog)
    worker.watchdog = setTimeout(() => {
      this.#options.log.error({ pid: worker.process.pid, seconds }, 'worker hangs, killing it')
      worker.process.kill('SIGKILL')
    }, seconds * 1000)
  }

  #replace(worker: Worker, cause: string): void {
    clearTimeout(worker.watchdog)
    this.#workers.delete(worker)
    if (this.#closed) return
    this.#options.onLost?.()
    this.#options.log.warn({ pid: worker.process.pid, cause, state: worker.state }, 'worker ended')
    worker.current?.reject(new AppError('engine_failed', `its process ended with ${cause}`))
    if (worker.state !== 'loading') {
      this.#spawn()
      return
    }
    // It never became ready: an immediate restart is unlikely to do better.
    const pause = Math.min(2 ** this.#failures++, MAX_PAUSE)
    this.#broken ??= new AppError('engine_unavailable', 'its processes end before they are ready')
    if (this.#workers.size === 0) {
      for (const waiting of this.#waiting.splice(0)) waiting.reject(this.#broken)
    }
    setTimeout(() => this.#closed || this.#spawn(), pause * 1000).unref()
  }
}

/** Sets the niceness of the thread that loads and runs the models; later threads inherit it. */
function lowerPriority({ pid }: ChildProcess, niceness: number): void {
  if (niceness === 0 || pid === undefined) return
  try {
    setPriority(pid, niceness)
  } catch {
    // Some systems do not allow it, or the process has ended: it works all the same.
  }
}
