import { fork } from 'node:child_process'
import { getPriority, setPriority } from 'node:os'
import { bareEnvironment } from '../../audio/decoder/sandbox/bare-environment.ts'
import { AppError, fromPlain } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import { processStarter } from '../../workers/start-worker.ts'
import { SupervisedWorker, type WorkerExit } from '../../workers/supervised-worker.ts'
import type { FromWorker, TaskResult, ToWorker, WorkerTask } from './worker-protocol.ts'

/** The processes of a pool. */
export type WorkerPoolOptions = {
  /** Module that each worker process runs, and its arguments. */
  entry: URL
  args: readonly string[]
  workers: number
  /** The number of processes that start at once; the others start when tasks wait. Default: all. */
  initialWorkers?: number | undefined
  /**
   * Seconds without a task after which a process ends, as long as another one stays; default:
   * never.
   */
  idleSeconds?: number | undefined
  log: Log
  /** Called when a process ends by itself. */
  onLost?: () => void
}

/** How one task is canceled and prioritized. */
export type PoolTaskOptions = {
  signal: AbortSignal
  /** Seconds after which a worker that has not answered is considered hung and killed. */
  timeout: number
  /** Lower runs first; equal priorities run in the order of the calls. */
  priority?: number
  /**
   * Whether the task may be preempted. Preemptible tasks leave one worker free if there are
   * several. A waiting task with a lower `priority` number preempts one, which then restarts from
   * the beginning, a few times at most.
   */
  isPreemptible?: boolean
}

/** Runs tasks in processes that have the model for them. */
export type TaskRunner = Pick<WorkerPool, 'run'>

/**
 * Settings of the glibc allocator; others ignore them. Blocks above 4 MB return to the system when
 * they are freed, smaller ones when 32 MB are free: to map and unmap pages with each call takes 2 %
 * of the processor time. Threads share one heap.
 */
const MEMORY_SETTINGS = {
  MALLOC_MMAP_THRESHOLD_: '4194304',
  MALLOC_TRIM_THRESHOLD_: '33554432',
  MALLOC_ARENA_MAX: '1',
}

/**
 * Makes V8 collect short-lived objects after each megabyte, in half a millisecond. With the
 * default, the arrays of finished calls accumulate outside the heap until a full collection.
 */
const NODE_OPTIONS = ['--max-semi-space-size=1']

/** Seconds within which a worker must load its models. */
const LOAD_TIMEOUT = 120
/**
 * Seconds that a canceled task may still take; it checks for cancellation between two decoder
 * steps.
 */
const CANCEL_TIMEOUT = 30
/** After this many preemptions, a task runs to its end. */
const MAX_PREEMPTIONS = 3

type PendingWorkerTask = {
  task: WorkerTask
  options: PoolTaskOptions
  preemptions: number
  resolve: (result: TaskResult[WorkerTask['kind']]) => void
  reject: (error: unknown) => void
}

/** A task that runs in a worker; `preempt` aborts it. */
type RunningTask = { waiting: PendingWorkerTask; preempt: AbortController }

type Worker = SupervisedWorker<FromWorker>
type WorkerResponse = Extract<FromWorker, { type: 'result' | 'error' }>

/**
 * Worker processes for recognition, one per core, and the queue in front of them. A worker is
 * loading until its models are in memory, then idle, and busy while it has a task. When one
 * crashes, exceeds its timeout or does not stop a canceled task, its task is rejected with
 * `engine_failed` and another process replaces it, with no other effect on the server.
 */
export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #workers: Worker[]
  readonly #running = new Set<RunningTask>()
  readonly #waiting: PendingWorkerTask[] = []
  /** The workers that were started and not closed for being idle. */
  readonly #active = new Set<Worker>()
  readonly #idleTimers = new Map<Worker, NodeJS.Timeout>()
  /** Running workers whose loaded models are no longer current. */
  readonly #outdated = new Set<Worker>()
  #nextId = 1
  #closed = false
  #broken: AppError | undefined
  #niceness = 0

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#workers = Array.from({ length: options.workers }, () => this.#create())
  }

  start(): void {
    const { workers, initialWorkers = workers } = this.#options
    while (this.#active.size < Math.min(initialWorkers, workers)) this.#startNext()
  }

  /** Runs one task in the next free worker. */
  run<T extends WorkerTask>(task: T, options: PoolTaskOptions): Promise<TaskResult[T['kind']]> {
    const { signal } = options
    signal.throwIfAborted()
    if (this.#closed) throw new AppError('engine_unavailable', 'it is closed')
    if (this.#broken && this.#isDown) throw this.#broken
    const { promise, resolve, reject } = Promise.withResolvers<TaskResult[WorkerTask['kind']]>()
    const waiting: PendingWorkerTask = { task, options, preemptions: 0, resolve, reject }
    this.#enqueue(waiting)
    const cancel = () => {
      const place = this.#waiting.indexOf(waiting)
      if (place >= 0) this.#waiting.splice(place, 1)
      reject(signal.reason)
    }
    signal.addEventListener('abort', cancel, { once: true })
    this.#dispatch()
    const settled = promise.finally(() => signal.removeEventListener('abort', cancel))
    return settled as Promise<TaskResult[T['kind']]>
  }

  /**
   * Raises the niceness of the processes permanently: a process with a higher niceness gets less of
   * a busy core.
   */
  setNiceness(niceness: number): void {
    this.#niceness = niceness
    for (const worker of this.#workers) lowerPriority(worker.pid, niceness)
  }

  /**
   * Makes the processes load changed models: replaces each process when it has no task, one at a
   * time.
   */
  reload(): void {
    for (const worker of this.#active) this.#outdated.add(worker)
    this.#reloadNext()
  }

  /** Ends all workers; rejects waiting and running tasks. */
  async close(): Promise<void> {
    this.#closed = true
    for (const timer of this.#idleTimers.values()) clearTimeout(timer)
    const error = new AppError('engine_unavailable', 'it is closed')
    const running = [...this.#running].map(({ waiting }) => waiting)
    for (const { reject } of [...this.#waiting.splice(0), ...running]) reject(error)
    await Promise.all(this.#workers.map((worker) => worker.close()))
  }

  /** Whether no process is running. */
  get #isDown(): boolean {
    return this.#workers.every(({ state }) => state === 'ended')
  }

  #create(): Worker {
    const { entry, args, log } = this.#options
    const start = processStarter(() => {
      const child = fork(entry, args, {
        execArgv: [...process.execArgv, ...NODE_OPTIONS],
        env: { ...bareEnvironment(), ...MEMORY_SETTINGS },
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      })
      lowerPriority(child.pid, this.#niceness)
      return child
    })
    const onReady = () => {
      this.#broken = undefined
      this.#dispatch()
      this.#closeWhenIdle(worker)
      this.#reloadNext()
    }
    const worker: Worker = new SupervisedWorker<FromWorker>({
      start,
      loading: { timeout: LOAD_TIMEOUT, isReady: (message) => this.#isReady(message), onReady },
      onError: (error) => log.error({ err: error }, 'worker process failed'),
      onHang: (seconds) => log.error({ pid: worker.pid, seconds }, 'worker hangs, killing it'),
      onLost: (loss) => this.#handleExit(loss),
    })
    return worker
  }

  #startNext(): void {
    const next = this.#workers.find((worker) => !this.#active.has(worker))
    if (!next || this.#closed) return
    this.#active.add(next)
    next.start()
  }

  /** Ends a worker that gets no task for a while, unless it is the only one. */
  #closeWhenIdle(worker: Worker): void {
    const { idleSeconds = -1 } = this.#options
    clearTimeout(this.#idleTimers.get(worker))
    if (idleSeconds < 0 || worker.state !== 'idle') return
    const end = () => {
      if (worker.state !== 'idle' || this.#active.size < 2) return
      this.#active.delete(worker)
      this.#outdated.delete(worker)
      void worker.close()
    }
    this.#idleTimers.set(worker, setTimeout(end, idleSeconds * 1000).unref())
  }

  #isReady(message: FromWorker): boolean {
    if (message.type === 'broken') this.#broken = fromPlain(message.error)
    return message.type === 'ready'
  }

  /** Inserts a task after those of its priority, or before them if it was preempted. */
  #enqueue(waiting: PendingWorkerTask): void {
    const priority = priorityOf(waiting)
    const at = this.#waiting.findIndex((waitingTask) => {
      return (
        priorityOf(waitingTask) > priority ||
        (waiting.preemptions > 0 && priorityOf(waitingTask) === priority)
      )
    })
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, waiting)
  }

  #requeue(preempted: PendingWorkerTask): void {
    preempted.preemptions++
    this.#enqueue(preempted)
  }

  #dispatch(): void {
    for (const worker of this.#workers) {
      if (worker.state !== 'idle') continue
      const next = this.#takeNext()
      if (!next) break
      void this.#perform(worker, next)
    }
    const loading = this.#workers.filter(({ state }) => state === 'loading').length
    if (this.#active.size > 0 && this.#waiting.length > loading) this.#startNext()
    this.#preempt()
  }

  /** Takes the first waiting task that may run now out of the queue. */
  #takeNext(): PendingWorkerTask | undefined {
    const preemptible = [...this.#running].filter(({ waiting }) => waiting.options.isPreemptible)
    const isFull = preemptible.length >= Math.max(1, this.#workers.length - 1)
    const at = this.#waiting.findIndex(({ options }) => !(isFull && options.isPreemptible))
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]
  }

  /** Preempts a preemptible task, unless another one is already being preempted. */
  #preempt(): void {
    const [next] = this.#waiting
    const running = [...this.#running]
    if (!next || running.some(({ preempt }) => preempt.signal.aborted)) return
    const preemptible = running.filter(({ waiting }) => {
      const { options, preemptions } = waiting
      const isPreemptible = options.isPreemptible && preemptions < MAX_PREEMPTIONS
      return isPreemptible && priorityOf(waiting) > priorityOf(next)
    })
    preemptible.at(-1)?.preempt.abort()
  }

  /**
   * Runs a task on a worker. A canceled or preempted task stops between two decoder steps, or its
   * worker is killed.
   */
  async #perform(worker: Worker, waiting: PendingWorkerTask): Promise<void> {
    const { task, options, resolve, reject } = waiting
    const id = this.#nextId++
    const running: RunningTask = { waiting, preempt: new AbortController() }
    const preempted = running.preempt.signal
    this.#running.add(running)
    const outcome = await worker.run({ id, task } satisfies ToWorker, {
      ...options,
      signal: AbortSignal.any([options.signal, preempted]),
      cancel: { message: { id, cancel: true } satisfies ToWorker, timeout: CANCEL_TIMEOUT },
      receive: (message) => (isResponse(message) && message.id === id ? message : undefined),
    })
    this.#running.delete(running)
    const isPreempted = preempted.aborted && !options.signal.aborted && !this.#closed
    if ('lost' in outcome) {
      const { cause } = outcome.lost
      reject(new AppError('engine_failed', `its process ended with ${cause}`))
    } else if (outcome.response.type === 'result') resolve(outcome.response.result)
    else if (isPreempted) this.#requeue(waiting)
    else reject(fromPlain(outcome.response.error))
    this.#dispatch()
    this.#closeWhenIdle(worker)
    this.#reloadNext()
  }

  #reloadNext(): void {
    if (this.#workers.some(({ state }) => state === 'loading')) return
    const next = [...this.#outdated].find(({ state }) => state === 'idle')
    if (!next || this.#closed) return
    this.#outdated.delete(next)
    void next.close().then(() => {
      if (this.#active.has(next) && !this.#closed) next.start()
    })
  }

  #handleExit({ pid, cause, state }: WorkerExit): void {
    this.#options.onLost?.()
    this.#options.log.warn({ pid, cause, state }, 'worker ended')
    if (state !== 'loading') return
    this.#broken ??= new AppError('engine_unavailable', 'its processes exit before they are ready')
    if (!this.#isDown) return
    for (const { reject } of this.#waiting.splice(0)) reject(this.#broken)
  }
}

function priorityOf({ options }: PendingWorkerTask): number {
  return options.priority ?? 0
}

function isResponse(message: FromWorker): message is WorkerResponse {
  return message.type === 'result' || message.type === 'error'
}

/** Sets the niceness of the thread that loads and runs the models; later threads inherit it. */
function lowerPriority(pid: number | undefined, niceness: number): void {
  if (niceness === 0 || pid === undefined) return
  try {
    if (getPriority(pid) < niceness) setPriority(pid, niceness)
  } catch {
    // Some systems do not allow it, or the process has ended: the pool works without it.
  }
}
