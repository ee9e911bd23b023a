import { type AddedModel, readAddedModel } from '../models/added.ts'

/** A file of a model with the hash that it must have; `name` is what the operator calls it. */
export type ModelFile = Pick<AddedModel, 'name' | 'path' | 'sha256'>

/**
 * What hears the voices of recordings. `id` differs between any two that hear differently, and may be part
 * of a file name: what one heard cannot be told apart along with what another heard.
 */
export type VoiceModel = { id: string } & (
  | { kind: 'built-in' }
  | { kind: 'embedding'; embedding: ModelFile }
  | { kind: 'pipeline'; embedding: ModelFile; segmentation: ModelFile }
  /** A record that cannot be read; `problem` says what to do about it. */
  | { kind: 'unusable'; problem: string }
)

/**
 * Chooses by what was added to the models folder: an embedding model takes the place of the one that is built
 * in, both kinds make a pipeline; a segmentation model alone is of no use yet. Blocks for two small files.
 */
export function chooseVoiceModel(folder: string): VoiceModel {
  try {
    const embedding = readAddedModel(folder, 'speaker-embedding')
    if (!embedding) return { id: 'built-in', kind: 'built-in' }
    const segmentation = readAddedModel(folder, 'speaker-segmentation')
    if (!segmentation) return { id: shortHash(embedding), kind: 'embedding', embedding }
    const id = `${shortHash(segmentation)}-${shortHash(embedding)}`
    return { id, kind: 'pipeline', embedding, segmentation }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { id: 'unusable', kind: 'unusable', problem }
  }
}

function shortHash({ sha256 }: AddedModel): string {
  return sha256.slice(0, 16)
}
