import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { AppError } from '../../../errors.ts'
import type { SpeakerTurn } from './diarization-pipeline.ts'
import type { WindowEmbedding } from './embedders/embedder.ts'

/** The result of the speaker model of this id: embeddings, or speaker turns. */
export type SpeakerModelOutput = { model: string } & (
  | { windows: WindowEmbedding[] }
  | { turns: SpeakerTurn[] }
)

/** Writes the result to a file, completely or, when the process is killed, not at all. Blocks. */
export function writeEmbeddings(path: string, embedded: SpeakerModelOutput): void {
  const unfinished = `${path}.new`
  const file = openSync(unfinished, 'w')
  try {
    writeFileSync(file, serialize(embedded))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(unfinished, path)
}

/** Returns the contents of a file. Blocks; throws `storage_unreadable`. */
export function readEmbeddings(path: string): SpeakerModelOutput {
  try {
    return deserialize(readFileSync(path)) as SpeakerModelOutput
  } catch (cause) {
    throw new AppError('storage_unreadable', 'the speaker embeddings', { cause })
  }
}
