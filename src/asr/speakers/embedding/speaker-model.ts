import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '../../../errors.ts'
import { type InstalledSpeakerModel, readSpeakerModel } from '../../../models/speaker-models.ts'
import { xvectorModelPath } from './embedders/xvector-model.ts'
import { diarizationGrid } from './regions.ts'

/**
 * Increment it when the input of the built-in model or its regions change: `mfcc.ts`, `regions.ts`,
 * `plan-embeddings.ts`.
 */
const FEATURES_VERSION = 1

/** A file of a model with the hash that it must have; `name` is the one the operator gave it. */
export type ModelFile = Pick<InstalledSpeakerModel, 'name' | 'path' | 'sha256'>

/**
 * The speaker model of recordings. `id` differs between any two that give different results, and
 * may be part of a file name: results of two models cannot be diarized together.
 */
export type SpeakerModelSpec = { id: string } & (
  | { kind: 'built-in' }
  | { kind: 'embedding'; embedding: ModelFile }
  | { kind: 'pipeline'; embedding: ModelFile; segmentation: ModelFile }
  /** A record that cannot be read; `problem` says what to do about it. */
  | { kind: 'unusable'; problem: string }
)

/**
 * Chooses by the models in the models folder: an embedding model replaces the built-in one, both
 * kinds form a pipeline; a segmentation model alone has no use yet. Blocks for two small files or
 * for the 6 MB of the built-in model.
 */
export function chooseSpeakerModel(folder: string): SpeakerModelSpec {
  try {
    const embedding = readSpeakerModel(folder, 'speaker-embedding')
    if (!embedding) return { id: builtInId(), kind: 'built-in' }
    const segmentation = readSpeakerModel(folder, 'speaker-segmentation')
    if (!segmentation) return { id: shortHash(embedding), kind: 'embedding', embedding }
    const id = `${shortHash(segmentation)}-${shortHash(embedding)}`
    return { id, kind: 'pipeline', embedding, segmentation }
  } catch (error) {
    const problem = messageOf(error)
    return { id: 'unusable', kind: 'unusable', problem }
  }
}

/**
 * Returns an id that changes with the model and its input: a job that runs during an upgrade must
 * not mix the results of two models.
 */
function builtInId(): string {
  const recipe = JSON.stringify([FEATURES_VERSION, diarizationGrid])
  const hash = createHash('sha256').update(readFileSync(xvectorModelPath)).update(recipe)
  return `built-in-${hash.digest('hex').slice(0, 16)}`
}

function shortHash({ sha256 }: InstalledSpeakerModel): string {
  return sha256.slice(0, 16)
}
