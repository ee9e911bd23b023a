import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { bundledModels } from '../../asr/model-files/bundled-packages.ts'
import { findDamage, type InstallRecord } from '../../asr/model-files/bundled-record.ts'
import { xvectorModelPath } from '../../asr/speakers/embedding/embedders/xvector-model.ts'
import type { Config } from '../../config/config.ts'
import { bundledModelList } from '../../models/bundled-models.ts'
import { downloadBytes, type MeasurementSource, readCatalog } from '../../models/catalog.ts'
import { findDamagedFiles, isInstalled } from '../../models/install/install.ts'
import {
  type LocalModel,
  readStoredModels,
  readStoredRecord,
  storeFolder,
} from '../../models/install/installed-models.ts'
import type { ListedModel, ModelState } from '../../models/model-admin.ts'
import {
  checkSpeakerModelFile,
  readSpeakerModel,
  type SpeakerModelKind,
  speakerModelKinds,
} from '../../models/speaker-models.ts'

/** How to check files: `hashes` reads every byte, otherwise only sizes are compared. */
export type ModelCheckOptions = { hashes: boolean; signal: AbortSignal }

const unknown = {
  engine: undefined,
  license: undefined,
  credit: undefined,
  memoryBytes: undefined,
  measured: undefined,
}

/**
 * Lists the models that a server with this folder could use: bundled, built in, added, installed
 * from the catalog.
 */
export async function listLocalModels(
  folder: string,
  depth: ModelCheckOptions,
): Promise<ListedModel[]> {
  return [
    ...(await listBundled(folder, depth)),
    ...(await listAdded(folder, depth)),
    ...(await listStored(folder, depth)),
  ]
}

/** Lists the models of the catalog that are not installed. */
export function listAvailableModels(folder: string): ListedModel[] {
  const present = new Set(readStoredModels(folder).map(({ id }) => id))
  return readCatalog()
    .filter(({ id }) => !present.has(id))
    .map(({ id, kind, engine, languages, license, credit, memoryBytes, files, measured }) => {
      const bytes = downloadBytes({ files })
      const names = { name: id, origin: 'store' as const, kind, purpose: kind }
      const details = { engine, languages, license, credit, memoryBytes, measured }
      return { ...names, ...details, bytes, state: 'available' }
    })
}

/** Lists the remote engine, if one is configured. */
export function listRemoteModels({ remote }: Pick<Config['models'], 'remote'>): ListedModel[] {
  if (!remote) return []
  const purpose = `recognition by ${remote.model} at ${new URL(remote.url).host}`
  const base = { ...unknown, name: 'remote', origin: 'server', kind: 'recognition' } as const
  const { languages } = remote
  return [{ ...base, engine: 'remote', purpose, languages, bytes: 0, state: 'configured' }]
}

async function listBundled(folder: string, { hashes }: ModelCheckOptions): Promise<ListedModel[]> {
  const damaged = await findDamage(folder, { hashes })
  const { record } = bundledModels(folder)
  const isRecorded = !damaged.includes(basename(record))
  const { files }: Pick<InstallRecord, 'files'> = isRecorded
    ? JSON.parse(await readFile(record, 'utf8'))
    : { files: {} }
  const telephone = await stat(xvectorModelPath).catch(() => undefined)
  return bundledModelList.map(({ id, ...model }) => {
    const measured: MeasurementSource | undefined =
      model.kind === 'recognition' ? 'itself' : undefined
    const base = { ...unknown, ...model, measured, name: id, origin: 'program' as const }
    if (model.kind === 'speaker-embedding') {
      return { ...base, bytes: telephone?.size ?? 0, state: telephone ? 'installed' : 'missing' }
    }
    const ofModel = Object.entries(files).filter(([file]) => file.startsWith(id))
    const bytes = ofModel.reduce((sum, [, file]) => sum + file.bytes, 0)
    const isDamaged = damaged.some((file) => file.split('/').some((part) => part.startsWith(id)))
    const state = ofModel.length === 0 ? 'missing' : isDamaged ? 'damaged' : 'installed'
    return { ...base, bytes, state }
  })
}

async function listAdded(folder: string, depth: ModelCheckOptions): Promise<ListedModel[]> {
  const listed: ListedModel[] = []
  for (const kind of speakerModelKinds) {
    const purpose = `${kind}, added`
    const base = { ...unknown, origin: 'file' as const, kind, purpose, languages: [] }
    const added = tryReadSpeakerModel(folder, kind)
    if (added === 'unreadable') listed.push({ ...base, name: kind, bytes: 0, state: 'unreadable' })
    else if (added) {
      const { name, bytes } = added
      const state = (await checkAdded(added, depth)) ?? 'installed'
      listed.push({ ...base, name, bytes, state })
    }
  }
  return listed
}

async function checkAdded(
  added: { path: string; sha256: string; bytes: number },
  { hashes }: ModelCheckOptions,
) {
  if (hashes) return checkSpeakerModelFile(added)
  const fileStat = await stat(added.path).catch(() => undefined)
  if (!fileStat) return 'missing'
  return fileStat.size === added.bytes ? undefined : 'damaged'
}

function tryReadSpeakerModel(folder: string, kind: SpeakerModelKind) {
  try {
    return readSpeakerModel(folder, kind)
  } catch {
    return 'unreadable' // The list shows it, and `steno doctor` the remedy.
  }
}

async function listStored(folder: string, depth: ModelCheckOptions): Promise<ListedModel[]> {
  const listed: ListedModel[] = []
  for (const model of readStoredModels(folder)) {
    const { id, kind, engine, languages, memoryBytes } = model
    const { license, credit, files = {} } = readStoredRecord(model.folder) ?? {}
    const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0)
    const state = await checkStored(folder, model, depth)
    const names = { name: id, origin: 'store' as const, kind, purpose: kind }
    const measured = readCatalog().find((catalogModel) => catalogModel.id === id)?.measured
    const details = { engine, languages, license, credit, memoryBytes, measured }
    listed.push({ ...names, ...details, bytes, state })
  }
  const readable = new Set(listed.map(({ name }) => name))
  const otherFolders = (await readdir(storeFolder(folder)).catch(() => [])).filter((name) => {
    return !name.startsWith('.') && !readable.has(name)
  })
  for (const name of otherFolders) {
    const base = { ...unknown, name, origin: 'store', kind: 'recognition' } as const
    listed.push({ ...base, purpose: '', languages: [], bytes: 0, state: 'unreadable' })
  }
  return listed
}

async function checkStored(
  modelsFolder: string,
  { id, folder }: LocalModel,
  { hashes, signal }: ModelCheckOptions,
): Promise<ModelState> {
  const damaged = hashes ? await findDamagedFiles(folder, signal) : await findChangedSizes(folder)
  if (damaged.length > 0) return 'damaged'
  const named = readCatalog().find((model) => model.id === id)
  return !named || isInstalled(modelsFolder, named) ? 'installed' : 'outdated'
}

async function findChangedSizes(folder: string): Promise<string[]> {
  const files = Object.entries(readStoredRecord(folder)?.files ?? {})
  const changed: string[] = []
  for (const [name, { bytes }] of files) {
    const fileStat = await stat(join(folder, name)).catch(() => undefined)
    if (fileStat?.size !== bytes) changed.push(name)
  }
  return changed
}
