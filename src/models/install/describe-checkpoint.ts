import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CatalogFile,
  type CatalogModel,
  downloadBytes,
  type EngineName,
  type ModelKind,
  readCatalog,
} from '../catalog.ts'
import { hashFile } from '../files/hash-file.ts'
import type { ImportCandidate } from './import-model.ts'

/** Names of the files of a checkpoint: weights, configuration and vocabulary. */
const CHECKPOINT_FILE = /^[\w-][\w.-]*\.(bin|safetensors|json|txt)$/
/** The memory of the buffers of a loaded model, besides its 8-bit weights. */
const BUFFER_BYTES = 300_000_000

/** The engine of a checkpoint, and its files if not all files with a matching name belong to it. */
export type CheckpointForm = {
  engine: EngineName
  kind: ModelKind
  files?: readonly string[]
  /** The memory of its weights, as a multiple of the size of the files. */
  memoryFactor: number
}

/** A checkpoint of Whisper, which is converted. */
export const whisperCheckpoint: CheckpointForm = {
  engine: 'whisper',
  kind: 'recognition',
  memoryFactor: 1,
}

/**
 * Describes a checkpoint in a folder, such as a fine-tuned Whisper, as a model that `importModel`
 * can install. Its revision is a hash of its files. Rejects with `Error` when the folder cannot be
 * one, or the id is the catalog's.
 */
export async function describeCheckpoint(
  folder: string,
  form: CheckpointForm,
  { id, languages, signal }: { id: string; languages: readonly string[]; signal: AbortSignal },
): Promise<ImportCandidate> {
  const { engine, kind, memoryFactor } = form
  if (readCatalog().some((model) => model.id === id)) {
    throw new Error(`Cannot import ${folder} as ${id}: the catalog has a model of this name`)
  }
  const files: CatalogFile[] = []
  const foundFiles = new Map<string, string>()
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    const isPart = form.files ? form.files.includes(name) : CHECKPOINT_FILE.test(name)
    if (!isPart) continue
    const file = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause
      throw new Error(`Cannot import ${path}: it is a link to a file that does not exist`, {
        cause,
      })
    })
    if (!file.isFile()) continue
    const sha256 = await hashFile(path, signal)
    files.push({ url: '', bytes: file.size, sha256, path: name })
    foundFiles.set(sha256, path)
  }
  const model: CatalogModel = {
    id,
    kind,
    engine,
    languages,
    license: 'unknown',
    memoryBytes: memoryFactor * downloadBytes({ files }) + BUFFER_BYTES,
    summary: '',
    revision: files.map(({ sha256 }) => sha256.slice(0, 8)).join('-'),
    files,
    ...(engine === 'whisper' && { conversion: 'whisper' as const }),
  }
  return { model, pathsByHash: foundFiles, missing: [] }
}
