import type { LocalModel } from '../../models/install/installed-models.ts'
import { bundledRecognizers } from '../engines/bundled-recognizers.ts'
import { REMOTE } from '../engines/remote/remote-id.ts'
import { createRemoteRecognizer } from '../engines/remote/remote-recognizer.ts'
import { createRemoteRunner } from '../engines/remote/remote-runner.ts'
import { prepackInBackground } from '../model-files/prepacked/prepack-in-background.ts'
import { defaultLimits, type SpeechEngineOptions } from '../model-selection/engine-options.ts'
import { createInstalledRecognizers } from '../model-selection/installed-recognizers.ts'
import { type AvailableRecognizers, findMostAccurate } from '../model-selection/select-models.ts'
import { BATCH_SEGMENTS } from '../segmentation/batches.ts'
import { createBatchingRunner } from './dynamic-batching.ts'
import { ModelPools, type ModelUse } from './model-pools.ts'
import { type TaskRunner, WorkerPool } from './pool.ts'
import type { WorkerRole } from './worker-protocol.ts'

/**
 * Starts the batch workers. Processes of installed models start when a task needs them. The remote
 * recognizer, if any, is listed like an installed one.
 */
export function startRecognizers(options: SpeechEngineOptions) {
  const { folder, workers, log, recognizers: bundled = bundledRecognizers } = options
  const { models: limits = defaultLimits } = options
  const { start, reload } = createPoolStarter(options)
  const pool = start('batch', workers)
  const batching = { processes: workers, maxSegments: BATCH_SEGMENTS }
  const batchingRunner = createBatchingRunner(pool, batching)
  if (options.prepacks) prepackInBackground(folder, log, reload)
  const installed = createInstalledRecognizers({
    folder,
    bundled,
    memory: limits.memory,
    ...(options.describe && { describe: options.describe }),
    onTooLarge: ({ id, memoryBytes }) => {
      const details = { model: id, memoryBytes, ...limits }
      log.error(details, 'model ignored: it exceeds STENO_MODEL_MEMORY')
    },
  })
  const remote = options.remote && createRemoteRecognizer(options.remote)
  const available = (options?: { isFresh: boolean }): AvailableRecognizers => {
    const local = installed.available(options)
    return remote ? { ...local, finals: [...local.finals, remote.describe()] } : local
  }
  const translators = (): AvailableRecognizers => {
    const { finals, partials } = installed.available()
    return { finals: finals.filter(({ capabilities }) => capabilities.translates), partials }
  }
  const startModel = (model: LocalModel, _: unknown, count: number) => start('model', count, model)
  const modelPools = new ModelPools({ workers, ...limits, start: startModel })
  const isBundled = (id: string) => {
    return [...bundled.finals, ...bundled.partials].some((recognizer) => recognizer.id === id)
  }
  /**
   * Returns the processes that have a model or load it; `bundledPool` is the pool of the bundled
   * models.
   */
  const processesOf = (id: string, use: ModelUse, bundledPool: TaskRunner): TaskRunner => {
    if (isBundled(id)) return bundledPool
    const model = installed.findStored(id) ?? modelPools.find(id)
    // The pool rejects the task if there is no such model.
    if (!model) return bundledPool
    return { run: (task, options) => modelPools.run(model, use, { task, options }) }
  }
  let liveRemote: TaskRunner | undefined
  const liveProcessesOf = (id: string, bundledPool: WorkerPool): TaskRunner => {
    if (!remote || id !== REMOTE) return processesOf(id, 'live', bundledPool)
    const findFallback = (language: string) => {
      const model = findMostAccurate(language, installed.available())?.id
      return model ? { model, processes: processesOf(model, 'live', bundledPool) } : undefined
    }
    liveRemote ??= createRemoteRunner({ remote, processes: bundledPool, findFallback, log })
    return liveRemote
  }
  return {
    start,
    pool,
    batchingRunner,
    modelPools,
    remote,
    available,
    translators,
    isBundled,
    processesOf,
    liveProcessesOf,
  }
}

/**
 * Returns `start`, which starts a pool, and `reload`, which makes the pools with bundled models
 * load them again.
 */
function createPoolStarter(options: SpeechEngineOptions) {
  const { folder, log, metrics, models: limits = defaultLimits } = options
  const { entry = new URL('worker.ts', import.meta.url) } = options
  const withBundled: WorkerPool[] = []
  const start = (role: WorkerRole, count: number, model?: LocalModel) => {
    const onLost = () => metrics?.workerRestarts.inc({ role })
    const isBatch = role === 'batch'
    const initialWorkers = model ? 1 : isBatch ? options.workersAtStart : undefined
    const idleSeconds = isBatch ? limits.idleSeconds : undefined
    const { device = 'cpu' } = limits
    const args = [folder, role, ...(model ? [JSON.stringify(model), device] : [])]
    const pool = new WorkerPool({
      entry,
      args,
      workers: count,
      initialWorkers,
      idleSeconds,
      log,
      onLost,
    })
    pool.start()
    if (['batch', 'live', 'partials'].includes(role)) withBundled.push(pool)
    return pool
  }
  const reload = () => {
    for (const recognizers of withBundled) recognizers.reload()
  }
  return { start, reload }
}

/** The pools of the recognizers, and functions to find recognizers. */
export type Recognizers = ReturnType<typeof startRecognizers>
