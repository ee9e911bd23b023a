import { AppError } from '../../errors.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { type BatchOptions, createBatchingRunner } from './dynamic-batching.ts'
import type { PoolTaskOptions, TaskRunner, WorkerPool } from './pool.ts'
import type { TaskResult, WorkerTask } from './worker-protocol.ts'

/**
 * Batching on a device: 16 segments saturate it and keep queueing delays short. Live tasks have
 * priorities below 10, so they run before recordings.
 */
const onDevice: BatchOptions = { processes: 1, maxSegments: 16, priority: 10 }

/** The use of a loaded model: live work has separate processes, so that it never waits long. */
export type ModelUse = 'live' | 'batch'

/** The processes of installed models. */
export type ModelPoolsOptions = {
  /** Starts the processes that load a model: one at once, the others when tasks wait. */
  start(model: LocalModel, use: ModelUse, workers: number): WorkerPool
  /** Maximum processes of one model for recordings. */
  workers: number
  /**
   * Whether a model has one process for all work, as on a device that only one can fill: see
   * `createBatchingRunner`. Default: no.
   */
  sharesProcess?: boolean
  /** Maximum bytes that all models may take together. */
  memory: number
  /** Seconds without a task after which a model is unloaded; 0 = at once, -1 = never. */
  idleSeconds: number
}

type LoadedModel = {
  model: LocalModel
  use: ModelUse
  pool: WorkerPool
  runner: TaskRunner
  bytes: number
  tasks: number
  /** When its last task ended. */
  usedAt: number
  idle: NodeJS.Timeout | undefined
  /** Present while its processes end. */
  closing?: Promise<void>
}

type PendingModelTask = {
  model: LocalModel
  use: ModelUse
  since: number
  resolve: (loaded: LoadedModel) => void
  reject: (error: unknown) => void
}

/** How long a loaded model may take further tasks while another model waits for memory. */
const TURN_MS = 20_000

/**
 * Runs tasks on installed models. Each model is loaded by processes of its own when a task needs
 * it, and unloaded when these processes end, which is the only way to return all memory. If the
 * memory does not suffice, idle models are unloaded, the least recently used first, and tasks wait
 * until the models before them have finished their tasks.
 */
export class ModelPools {
  readonly #options: ModelPoolsOptions
  readonly #loaded = new Map<string, LoadedModel>()
  readonly #waiting: PendingModelTask[] = []
  #niceness = 0
  #closed = false

  constructor(options: ModelPoolsOptions) {
    this.#options = options
  }

  /** The models in memory. */
  get loaded(): readonly { id: string; use: ModelUse; bytes: number }[] {
    return [...this.#loaded.values()].map(({ model, use, bytes }) => ({ id: model.id, use, bytes }))
  }

  /** Returns a loaded model that may have been removed from the disk since. */
  find(id: string): LocalModel | undefined {
    const loaded = [...this.#loaded.values()].find(({ model, closing }) => {
      return model.id === id && !closing
    })
    return loaded?.model
  }

  /** Runs one task, after loading the model if that is necessary. */
  async run<T extends WorkerTask>(
    model: LocalModel,
    use: ModelUse,
    { task, options }: { task: T; options: PoolTaskOptions },
  ): Promise<TaskResult[T['kind']]> {
    const { sharesProcess = false } = this.#options
    const loaded = await this.#acquire(model, sharesProcess ? 'batch' : use, options.signal)
    try {
      return await loaded.runner.run(task, options)
    } finally {
      this.#release(loaded)
    }
  }

  /** Raises the niceness of the processes for recordings permanently. */
  setNiceness(niceness: number): void {
    // The niceness of a process that live work shares does not change.
    if (this.#options.sharesProcess) return
    this.#niceness = niceness
    for (const { use, pool } of this.#loaded.values())
      if (use === 'batch') pool.setNiceness(niceness)
  }

  /** Ends all processes; rejects waiting and running tasks. */
  async close(): Promise<void> {
    this.#closed = true
    const error = new AppError('engine_unavailable', 'it is closed')
    for (const { reject } of this.#waiting.splice(0)) reject(error)
    await Promise.all([...this.#loaded.values()].map((loaded) => this.#unload(loaded)))
  }

  async #acquire(model: LocalModel, use: ModelUse, signal: AbortSignal): Promise<LoadedModel> {
    signal.throwIfAborted()
    if (this.#closed) throw new AppError('engine_unavailable', 'it is closed')
    const now = performance.now()
    const isTurnOver = this.#waiting.some(({ since }) => now - since > TURN_MS)
    const present = this.#loaded.get(poolKey(model, use))
    if (present && !present.closing && !isTurnOver) return this.#take(present)
    const { promise, resolve, reject } = Promise.withResolvers<LoadedModel>()
    const waiting: PendingModelTask = { model, use, since: performance.now(), resolve, reject }
    const place =
      use === 'live' ? this.#waiting.findIndex((waitingTask) => waitingTask.use === 'batch') : -1
    this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, waiting)
    const cancel = () => {
      const place = this.#waiting.indexOf(waiting)
      if (place < 0) return
      this.#waiting.splice(place, 1)
      reject(signal.reason)
      this.#startWaiting()
    }
    signal.addEventListener('abort', cancel, { once: true })
    this.#startWaiting()
    return promise.finally(() => signal.removeEventListener('abort', cancel))
  }

  #take(loaded: LoadedModel): LoadedModel {
    clearTimeout(loaded.idle)
    loaded.tasks++
    return loaded
  }

  #release(loaded: LoadedModel): void {
    loaded.tasks--
    loaded.usedAt = performance.now()
    const { idleSeconds } = this.#options
    if (loaded.tasks > 0 || loaded.closing) return
    if (this.#waiting.length > 0) this.#startWaiting()
    if (loaded.tasks > 0 || loaded.closing || idleSeconds < 0) return
    if (idleSeconds === 0) void this.#unload(loaded)
    else loaded.idle = setTimeout(() => void this.#unload(loaded), idleSeconds * 1000).unref()
  }

  /** Loads the models of the waiting tasks, in order, as far as the memory suffices. */
  #startWaiting(): void {
    for (;;) {
      const next = this.#waiting[0]
      if (!next || this.#closed) return
      const loaded = this.#load(next.model, next.use)
      if (!loaded) return
      this.#waiting.shift()
      next.resolve(this.#take(loaded))
    }
  }

  /** Returns a model in memory, or starts to load it; undefined while there is no space for it. */
  #load(model: LocalModel, use: ModelUse): LoadedModel | undefined {
    const key = poolKey(model, use)
    const present = this.#loaded.get(key)
    if (present) return present.closing ? undefined : present
    const workers = this.#workersFor(model, use)
    const bytes = workers * model.memoryBytes
    const all = [...this.#loaded.values()]
    const free = this.#options.memory - all.reduce((sum, { bytes }) => sum + bytes, 0)
    if (bytes > free && all.length > 0) {
      this.#makeSpace(bytes - free)
      return undefined
    }
    const pool = this.#options.start(model, use, workers)
    if (use === 'batch' && this.#niceness > 0) pool.setNiceness(this.#niceness)
    const runner = this.#options.sharesProcess ? createBatchingRunner(pool, onDevice) : pool
    const usedAt = performance.now()
    const loaded = { model, use, pool, runner, bytes, tasks: 0, usedAt, idle: undefined }
    this.#loaded.set(key, loaded)
    return loaded
  }

  /** Unloads idle models, unless the models that are already being unloaded free enough memory. */
  #makeSpace(needed: number): void {
    const all = [...this.#loaded.values()]
    const isIdle = ({ tasks, closing }: LoadedModel) => tasks === 0 && !closing
    const idle = all.filter(isIdle).sort((a, b) => a.usedAt - b.usedAt)
    const ending = all.filter(({ closing }) => closing)
    let missing = needed - ending.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const loaded of idle) {
      if (missing <= 0) return
      missing -= loaded.bytes
      void this.#unload(loaded)
    }
  }

  /** Returns one process for live work; for recordings, as many as fit into half of the memory. */
  #workersFor({ memoryBytes }: LocalModel, use: ModelUse): number {
    const { workers, memory, sharesProcess } = this.#options
    if (use === 'live' || sharesProcess) return 1
    return Math.max(1, Math.min(workers, Math.floor(memory / 2 / Math.max(1, memoryBytes))))
  }

  #unload(loaded: LoadedModel): Promise<void> {
    clearTimeout(loaded.idle)
    loaded.closing ??= loaded.pool.close().then(() => {
      for (const [key, other] of this.#loaded) if (other === loaded) this.#loaded.delete(key)
      this.#startWaiting()
    })
    return loaded.closing
  }
}

function poolKey({ id, revision }: LocalModel, use: ModelUse): string {
  return `${use} ${id} ${revision}`
}
