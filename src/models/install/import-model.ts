import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CatalogModel, downloadBytes } from '../catalog.ts'
import { PartialFile } from '../download/partial-file.ts'
import { hashFile } from '../files/hash-file.ts'
import { type InstallOptions, installModel, isInstalled } from './install.ts'
import { requireSpace } from './require-space.ts'

/** The files of a model in a folder; `missing` are the names of the files that the folder lacks. */
export type ImportCandidate = {
  model: CatalogModel
  /** Paths of the files that were found, by SHA-256. */
  pathsByHash: ReadonlyMap<string, string>
  missing: string[]
}

/** Options of a search; `onUnreadable` is called for each subfolder or file that is left out. */
type FindOptions = {
  catalog: readonly CatalogModel[]
  onUnreadable(path: string, error: unknown): void
  signal: AbortSignal
}

/**
 * Searches a folder recursively for files of models by their hashes: names do not matter, so a copy
 * of a hub's cache works. Returns the models of which at least one file was found that no other
 * model of the catalog has.
 */
export async function findModels(
  folder: string,
  { catalog, onUnreadable, signal }: FindOptions,
): Promise<ImportCandidate[]> {
  const files = catalog.flatMap((model) => model.files)
  const sizes = new Set(files.map(({ bytes }) => bytes))
  const hashes = new Set(files.map(({ sha256 }) => sha256))
  const foundFiles = new Map<string, string>()
  for await (const path of listFiles(folder, onUnreadable)) {
    const file = await stat(path).catch(() => undefined)
    if (!file?.isFile() || !sizes.has(file.size)) continue
    try {
      const sha256 = await hashFile(path, signal)
      if (hashes.has(sha256)) foundFiles.set(sha256, path)
    } catch (error) {
      signal.throwIfAborted()
      onUnreadable(path, error)
    }
  }
  return catalog.flatMap((model) => {
    const lacking = model.files.filter(({ sha256 }) => !foundFiles.has(sha256))
    const identifying = model.files.filter(({ sha256 }) => {
      return foundFiles.has(sha256) && files.filter((file) => file.sha256 === sha256).length === 1
    })
    if (identifying.length === 0) return []
    const missing = lacking.map(({ path, url }) => path ?? new URL(url).pathname.split('/').at(-1)!)
    return [{ model, pathsByHash: foundFiles, missing }]
  })
}

/** Yields the paths in a folder and its subfolders that are no folders. */
async function* listFiles(
  folder: string,
  onUnreadable: FindOptions['onUnreadable'],
): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) {
      yield path
      continue
    }
    try {
      yield* listFiles(path, onUnreadable)
    } catch (error) {
      onUnreadable(path, error)
    }
  }
}

/** Installs a model from files that `findModels` found: see `installModel`. */
export async function importModel(
  modelsFolder: string,
  { model, pathsByHash }: ImportCandidate,
  options: InstallOptions,
): Promise<boolean> {
  if (isInstalled(modelsFolder, model)) return false
  const obtain = (downloads: string) => copyFiles(downloads, { model, pathsByHash }, options)
  return installModel(modelsFolder, { model, obtain }, options)
}

async function copyFiles(
  downloads: string,
  { model, pathsByHash }: Pick<ImportCandidate, 'model' | 'pathsByHash'>,
  { signal, onStep }: InstallOptions,
): Promise<void> {
  await requireSpace(downloads, model)
  const total = downloadBytes(model)
  let copied = 0
  for (const { sha256, bytes } of model.files) {
    const from = pathsByHash.get(sha256)!
    const target = join(downloads, sha256)
    const part = await PartialFile.open(`${target}.part`, { bytes, signal })
    try {
      await part.restart()
      for await (const chunk of createReadStream(from, { signal })) {
        await part.append(chunk)
        onStep({ stage: 'copying', bytes: copied + part.size, total })
      }
      if (part.digest() !== sha256) throw new Error(`Cannot import ${from}: it was just changed`)
      await part.finish(target)
    } catch (error) {
      await part.close()
      throw error
    }
    copied += bytes
  }
}
