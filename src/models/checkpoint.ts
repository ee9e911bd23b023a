import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CatalogFile, type CatalogModel, downloadBytes, readCatalog } from './catalog.ts'
import { hashFile } from './hash-file.ts'
import type { FoundModel } from './import.ts'

/** Files of a checkpoint: weights, and what describes them. */
const CHECKPOINT_FILE = /^[\w-][\w.-]*\.(bin|safetensors|json|txt)$/
/** Beside its weights in 8 bits, a loaded model has its buffers. */
const BUFFER_BYTES = 300_000_000

/**
 * Describes a Whisper checkpoint in a folder, such as a fine-tuned one, as a model that
 * `importModel` can install. Its revision is a hash of its files. Rejects with `Error` when the
 * folder cannot be one, or the id is the catalog's.
 */
export async function describeCheckpoint(
  folder: string,
  { id, languages, signal }: { id: string; languages: readonly string[]; signal: AbortSignal },
): Promise<FoundModel> {
  if (readCatalog().some((model) => model.id === id)) {
    throw new Error(`Cannot import ${folder} as ${id}: the catalog has a model of this name`)
  }
  const files: CatalogFile[] = []
  const found = new Map<string, string>()
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    const file = await stat(path)
    if (!file.isFile() || !CHECKPOINT_FILE.test(name)) continue
    const sha256 = await hashFile(path, signal)
    files.push({ url: '', bytes: file.size, sha256, path: name })
    found.set(sha256, path)
  }
  const model: CatalogModel = {
    ...{ id, kind: 'recognition', engine: 'whisper', languages, licence: 'unknown' },
    memoryBytes: downloadBytes({ files }) + BUFFER_BYTES,
    summary: '',
    revision: files.map(({ sha256 }) => sha256.slice(0, 8)).join('-'),
    files,
    conversion: 'whisper',
  }
  return { model, found, missing: [] }
}
