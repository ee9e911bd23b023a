import type { Config, Device } from '../../config/config.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import type { PullQueue } from '../../models/pull-queue.ts'
import type { Log } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { RecognizerInfo } from '../engines/recognizer.ts'
import type { RemoteOptions } from '../engines/remote/remote-recognizer.ts'
import type { AvailableRecognizers } from './select-models.ts'

/** The folder that holds the models, and how many processes load them. */
export type SpeechEngineOptions = {
  folder: string
  workers: number
  /**
   * The number of workers that start at once; the others start when tasks wait. Default: all. With
   * 0, `checkReady` does not check them.
   */
  workersAtStart?: number
  log: Log
  metrics?: Pick<Metrics, 'workerRestarts'>
  /**
   * Also creates processes for live sessions; seconds between two partials of an utterance, and
   * whether to measure how many sessions fit (default: true).
   */
  live?: { partialInterval: number; measuresCapacity?: boolean }
  /** The memory of installed models, and how long they stay loaded; default: as configured. */
  models?: ModelLimits
  /** Names that stand for one of the three models of the API. */
  aliases?: Readonly<Record<string, string>>
  /** A remote server that also recognizes. */
  remote?: RemoteOptions | undefined
  /** Installs the models that requests need; closed with the engine. */
  pulls?: PullQueue | undefined
  /** Prepacks the bundled models, which takes a process some seconds. */
  prepacks?: boolean
  /** What the worker processes load, and the module that they run; for tests. */
  recognizers?: AvailableRecognizers
  describe?: (model: LocalModel) => RecognizerInfo | undefined
  entry?: URL
  /** Seconds of one detection task; for tests. */
  detectSeconds?: number
}

/**
 * Bytes that installed models may take, seconds after which an idle one is unloaded, and the device
 * that runs them, by default the processor. On any other each model has one process,
 * `sharesProcess`.
 */
export type ModelLimits = {
  memory: number
  idleSeconds: number
  device?: Device
  sharesProcess?: boolean
}

/** Limits where none are configured. */
export const defaultLimits: ModelLimits = { memory: Number.MAX_SAFE_INTEGER, idleSeconds: 300 }

/** Returns the options that follow from the settings. */
export function engineOptions({
  models,
  workers,
  live,
  node: { roles },
}: Pick<Config, 'models' | 'workers' | 'live' | 'node'>): Omit<SpeechEngineOptions, 'log'> {
  const liveOptions = {
    partialInterval: live.partialIntervalMs / 1000,
    measuresCapacity: live.slots === undefined,
  }
  const { folder, aliases, memory, idleSeconds, device } = models
  return {
    folder,
    workers,
    aliases,
    models: { memory, idleSeconds, device, sharesProcess: device !== 'cpu' },
    // One worker starts at once: a second one would compete with it and with the rest of the server
    // while all of them load.
    workersAtStart: roles.includes('worker') ? 1 : 0,
    ...(live.slots !== 0 && roles.includes('live') && { live: liveOptions }),
  }
}
