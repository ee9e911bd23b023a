import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { AppError } from '../../../errors.ts'
import type { Turn } from './diarization-pipeline.ts'
import type { EmbeddedWindow } from './embedder.ts'

/** What was heard of voices, by the model of this id: what they sound like, or whose turns there are. */
export type ChannelEmbeddings = { model: string } & (
  | { windows: EmbeddedWindow[] }
  | { turns: Turn[] }
)

/** Keeps what was heard in a file, all of it or, when the process is killed, nothing. Blocks. */
export function writeEmbeddings(path: string, heard: ChannelEmbeddings): void {
  const unfinished = `${path}.new`
  const file = openSync(unfinished, 'w')
  try {
    writeFileSync(file, serialize(heard))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(unfinished, path)
}

/** What a file holds; blocks, fails with `storage_unreadable`. */
export function readEmbeddings(path: string): ChannelEmbeddings {
  try {
    return deserialize(readFileSync(path)) as ChannelEmbeddings
  } catch (cause) {
    throw new AppError('storage_unreadable', 'what was heard of the voices', { cause })
  }
}
