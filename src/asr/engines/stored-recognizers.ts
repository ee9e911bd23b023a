import type { Device } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import type { EngineName, ModelKind } from '../../models/catalog.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { estimateModel } from '../model-selection/model-estimates.ts'
import { describeParakeet } from './parakeet/capabilities.ts'
import type { Recognizer, RecognizerInfo } from './recognizer.ts'
import { describeSherpa } from './sherpa/capabilities.ts'
import { describeWhisper } from './whisper/capabilities.ts'

/** The code of an engine: it describes a model in the server, and loads it in a worker process. */
type StoredEngine = {
  describe(model: LocalModel): RecognizerInfo | undefined
  load(model: LocalModel, options: { device: Device }): Promise<Recognizer>
}

const engines: Partial<Record<EngineName, StoredEngine>> = {
  // Loaded in worker processes only: the server loads no inference library.
  parakeet: {
    describe: describeParakeet,
    load: async (model, options) => (await import('./parakeet.ts')).createParakeet(model, options),
  },
  sherpa: {
    describe: describeSherpa,
    load: async (model, options) => (await import('./sherpa.ts')).createSherpa(model, options),
  },
  whisper: {
    describe: describeWhisper,
    load: async (model, options) => (await import('./whisper.ts')).createWhisper(model, options),
  },
}

const recognitionKinds: readonly ModelKind[] = ['recognition', 'streaming-recognition']

/**
 * Describes an installed model without loading it; undefined when no engine of this version runs
 * it.
 */
export function describeStored(model: LocalModel): RecognizerInfo | undefined {
  if (!recognitionKinds.includes(model.kind)) return undefined
  const info = engines[model.engine]?.describe(model)
  const estimate = estimateModel(model)
  return info && { ...info, ...(estimate && { estimate }) }
}

/** Loads an installed model, in a process of its own. */
export async function loadStored(
  model: LocalModel,
  options: { device: Device },
): Promise<Recognizer> {
  const engine = engines[model.engine]
  if (!engine)
    throw new AppError('engine_unavailable', `no engine on this server runs ${model.engine} models`)
  return engine.load(model, options)
}
