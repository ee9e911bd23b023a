import { AppError } from '../../errors.ts'
import type { EngineName } from '../../models/catalog.ts'
import type { StoredModel } from '../../models/installed.ts'
import type { Recognizer, RecognizerInfo } from '../recognizer.ts'
import { createParakeet, describeParakeet } from './parakeet.ts'

/** The code of an engine: it describes a model in the server, and loads it in a worker process. */
type StoredEngine = {
  describe(model: StoredModel): RecognizerInfo
  load(model: StoredModel): Promise<Recognizer>
}

const engines: Partial<Record<EngineName, StoredEngine>> = {
  parakeet: { describe: describeParakeet, load: createParakeet },
}

/** Returns what is known of an installed model; undefined when no engine of this version runs it. */
export function describeStored(model: StoredModel): RecognizerInfo | undefined {
  if (model.kind !== 'recognition') return undefined
  return engines[model.engine]?.describe(model)
}

/** Loads an installed model, in a process of its own. */
export async function loadStored(model: StoredModel): Promise<Recognizer> {
  const engine = engines[model.engine]
  if (!engine) throw new AppError('engine_unavailable', `nothing runs models of ${model.engine}`)
  return engine.load(model)
}
