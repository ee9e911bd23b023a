import { existsSync } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type CatalogFile,
  type CatalogModel,
  type Conversion,
  conversionVersions,
} from '../catalog.ts'
import { hashFile } from '../files/hash-file.ts'
import { isWriteRefusal, makeFolder, refusedFolder } from '../files/make-folder.ts'
import { syncPath } from '../files/sync-path.ts'
import {
  RECORD_FILE,
  readStoredRecord,
  type StoredRecord,
  storeFolder,
} from './installed-models.ts'
import { withModelLock } from './lock.ts'
import { unzipMembers } from './unzip.ts'

/**
 * Writes the files that an engine reads into the empty folder `to`, from a checkpoint in `from`.
 * Rejects with an `Error` that says what is wrong with the checkpoint.
 */
export type Convert = (
  from: string,
  to: string,
  options: { signal: AbortSignal; onProgress(fraction: number): void },
) => Promise<void>

/**
 * The current step of an installation, with the bytes fetched or copied, or the converted fraction.
 */
export type InstallStep =
  | { stage: 'waiting' | 'unpacking' | 'checking' }
  | { stage: 'fetching' | 'copying'; bytes: number; total: number }
  | { stage: 'converting'; fraction: number }

export type InstallOptions = {
  conversions: Record<Conversion, Convert>
  signal: AbortSignal
  onStep(step: InstallStep): void
}

/**
 * Puts the files of a model into the folder `downloads`, each named by its SHA-256 and verified.
 */
export type ObtainFiles = (downloads: string) => Promise<void>

/**
 * Installs a model from the files that `obtain` provides: completely, or not at all when this
 * process is killed. Fetched files stay for the next attempt. Waits for another process that
 * installs the same model. Resolves to false when the model was already installed.
 */
export async function installModel(
  modelsFolder: string,
  { model, obtain }: { model: CatalogModel; obtain: ObtainFiles },
  options: InstallOptions,
): Promise<boolean> {
  const { signal, onStep } = options
  const store = storeFolder(modelsFolder)
  const paths = installPaths(store, model.id)
  // A killed installation may have left files although its model is complete.
  const hasLeftovers = () => existsSync(paths.work) || existsSync(paths.downloads)
  if (isInstalled(modelsFolder, model) && !hasLeftovers()) return false
  const onWait = () => onStep({ stage: 'waiting' })
  return withModelLock(store, { id: model.id, signal, onWait }, async () => {
    await rm(paths.work, { recursive: true, force: true })
    const wasInstalled = isInstalled(modelsFolder, model)
    if (!wasInstalled) {
      await makeFolder(paths.downloads)
      try {
        await obtain(paths.downloads)
        await publishModel(await assembleModel(model, paths, options), paths)
      } catch (error) {
        await rm(paths.work, { recursive: true, force: true })
        throw isWriteRefusal(error) ? refusedFolder(modelsFolder, error) : error
      }
    }
    await rm(paths.downloads, { recursive: true, force: true })
    return !wasInstalled
  })
}

/**
 * Returns whether a model is installed, from the source that the catalog names, in the format that
 * this version reads.
 */
export function isInstalled(
  modelsFolder: string,
  { id, revision, conversion }: Pick<CatalogModel, 'id' | 'revision' | 'conversion'>,
): boolean {
  const record = readStoredRecord(join(storeFolder(modelsFolder), id))
  const version = conversion && conversionVersions[conversion]
  return record?.id === id && record.revision === revision && record.conversionVersion === version
}

/**
 * Removes a model and its downloads; returns whether it was installed. Waits, after `onWait`, while
 * another process installs it.
 */
export async function removeStoredModel(
  modelsFolder: string,
  { id, signal, onWait }: { id: string; signal: AbortSignal; onWait?: (() => void) | undefined },
): Promise<boolean> {
  const store = storeFolder(modelsFolder)
  return withModelLock(store, { id, signal, onWait }, async () => {
    const { folder, work, downloads, replaced } = installPaths(store, id)
    const wasInstalled = (await stat(folder).catch(() => undefined)) !== undefined
    // The record goes first: without it, the remaining files after a crash are not a model.
    await rm(join(folder, RECORD_FILE), { force: true })
    for (const path of [folder, work, downloads, replaced]) {
      await rm(path, { recursive: true, force: true })
    }
    return wasInstalled
  })
}

/** Returns the files of an installed model that are missing or not as they were installed. */
export async function findDamagedFiles(folder: string, signal: AbortSignal): Promise<string[]> {
  const record = readStoredRecord(folder)
  if (!record) return [RECORD_FILE]
  const damaged: string[] = []
  for (const [name, { bytes, sha256 }] of Object.entries(record.files)) {
    const path = join(folder, name)
    const fileStat = await stat(path).catch(() => undefined)
    const isWhole = fileStat?.size === bytes && (await hashFile(path, signal)) === sha256
    if (!isWhole) damaged.push(name)
  }
  return damaged
}

type InstallPaths = Record<'folder' | 'work' | 'downloads' | 'replaced', string>

function installPaths(store: string, id: string): InstallPaths {
  return {
    folder: join(store, id),
    work: join(store, '.installing', id),
    downloads: join(store, '.downloads', id),
    replaced: join(store, '.replaced', id),
  }
}

/** Builds the folder of the model from its downloads, with its record; returns its path. */
async function assembleModel(
  model: CatalogModel,
  { work, downloads }: InstallPaths,
  { conversions, signal, onStep }: InstallOptions,
): Promise<string> {
  const [source, converted] = [join(work, 'source'), join(work, 'converted')]
  await mkdir(source, { recursive: true })
  for (const file of model.files) await placeFile(file, { downloads, source, signal, onStep })
  if (model.conversion) {
    await mkdir(converted)
    const onProgress = (fraction: number) => onStep({ stage: 'converting', fraction })
    onProgress(0)
    await conversions[model.conversion](source, converted, { signal, onProgress })
  }
  const finished = model.conversion ? converted : source
  onStep({ stage: 'checking' })
  const { id, kind, engine, languages, license, credit, revision, memoryBytes } = model
  const files = await describeFiles(finished, signal)
  const record: StoredRecord = {
    id,
    kind,
    engine,
    languages,
    license,
    ...(credit !== undefined && { credit }),
    revision,
    memoryBytes,
    files,
    ...(model.conversion && { conversionVersion: conversionVersions[model.conversion] }),
  }
  await writeFile(join(finished, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`)
  await syncPath(join(finished, RECORD_FILE))
  await syncPath(finished)
  return finished
}

async function placeFile(
  { sha256, path, members = [] }: CatalogFile,
  {
    downloads,
    source,
    signal,
    onStep,
  }: Pick<InstallOptions, 'signal' | 'onStep'> & {
    downloads: string
    source: string
  },
): Promise<void> {
  const download = join(downloads, sha256)
  if (path === undefined) {
    onStep({ stage: 'unpacking' })
    const targets = members.map((member) => ({ ...member, path: join(source, member.path) }))
    return unzipMembers(download, targets, signal)
  }
  const target = join(source, path)
  // Some file systems have no links: a copy temporarily takes the space twice.
  await link(download, target).catch(() => copyFile(download, target))
}

async function describeFiles(folder: string, signal: AbortSignal): Promise<StoredRecord['files']> {
  const files: StoredRecord['files'] = {}
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name)
    const { size: bytes } = await stat(path)
    files[name] = { bytes, sha256: await hashFile(path, signal) }
    await syncPath(path)
  }
  return files
}

/** Moves a finished folder into the store; an installed version is moved away first. */
async function publishModel(
  finished: string,
  { folder, work, replaced }: InstallPaths,
): Promise<void> {
  await rm(replaced, { recursive: true, force: true })
  await mkdir(dirname(replaced), { recursive: true })
  await rename(folder, replaced).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(finished, folder)
  await syncPath(dirname(folder))
  for (const path of [replaced, work]) await rm(path, { recursive: true, force: true })
}
