import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type InstalledModel, readInstalledModel } from '../../models/installed-models.ts'
import { diarizationGrid } from './regions.ts'
import { telephoneModelPath } from './telephone-embedder.ts'

/** Raise it when what the built-in model is given, or where it listens, changes: `mfcc.ts`, `regions.ts`, `plan-voices.ts`. */
const LISTENING = 1

/** A file of a model with the hash that it must have; `name` is what the operator calls it. */
export type ModelFile = Pick<InstalledModel, 'name' | 'path' | 'sha256'>

/**
 * What hears the voices of recordings. `id` differs between any two that hear differently, and may be part
 * of a file name: what one heard cannot be told apart along with what another heard.
 */
export type SpeakerModelSpec = { id: string } & (
  | { kind: 'built-in' }
  | { kind: 'embedding'; embedding: ModelFile }
  | { kind: 'pipeline'; embedding: ModelFile; segmentation: ModelFile }
  /** A record that cannot be read; `problem` says what to do about it. */
  | { kind: 'unusable'; problem: string }
)

/**
 * Chooses by what was added to the models folder: an embedding model takes the place of the one that is built
 * in, both kinds make a pipeline; a segmentation model alone is of no use yet. Blocks for two small files or for the 6 MB of the built-in model.
 */
export function chooseSpeakerModel(folder: string): SpeakerModelSpec {
  try {
    const embedding = readInstalledModel(folder, 'speaker-embedding')
    if (!embedding) return { id: builtInId(), kind: 'built-in' }
    const segmentation = readInstalledModel(folder, 'speaker-segmentation')
    if (!segmentation) return { id: shortHash(embedding), kind: 'embedding', embedding }
    const id = `${shortHash(segmentation)}-${shortHash(embedding)}`
    return { id, kind: 'pipeline', embedding, segmentation }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { id: 'unusable', kind: 'unusable', problem }
  }
}

/** A job in hand during an upgrade must not tell apart what two models heard. */
function builtInId(): string {
  const how = JSON.stringify([LISTENING, diarizationGrid])
  const hash = createHash('sha256').update(readFileSync(telephoneModelPath)).update(how)
  return `built-in-${hash.digest('hex').slice(0, 16)}`
}

function shortHash({ sha256 }: InstalledModel): string {
  return sha256.slice(0, 16)
}
