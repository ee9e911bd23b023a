import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EngineName, engineNames, type ModelKind, modelKinds } from '../catalog.ts'

/** The name of the record in the folder of a model. */
export const RECORD_FILE = 'model.json'

const FILE_NAME = /^\w[\w.-]*$/

/** The content of `model.json`: it is written last, so a folder that has one is complete. */
export type StoredRecord = {
  id: string
  kind: ModelKind
  engine: EngineName
  languages: readonly string[]
  license: string
  credit?: string
  revision: string
  /** The version of the conversion that wrote the files, if any. */
  conversionVersion?: number
  memoryBytes: number
  /** Size and SHA-256 of every other file of the folder, by its name. */
  files: Record<string, { bytes: number; sha256: string }>
}

/** A model that is installed in the models folder. */
export type LocalModel = {
  id: string
  kind: ModelKind
  engine: EngineName
  languages: readonly string[]
  /** The commit or version of its source. */
  revision: string
  /** The memory of a process that has loaded it, in bytes. */
  memoryBytes: number
  folder: string
}

/** Returns the folder of the installed models inside the models folder. */
export function storeFolder(modelsFolder: string): string {
  return join(modelsFolder, 'store')
}

/**
 * Returns the installed models, sorted by id. Blocks; reads one small file per model. Skips models
 * that are incomplete, unreadable, or of a kind or engine that this version does not know.
 */
export function readStoredModels(modelsFolder: string): LocalModel[] {
  const store = storeFolder(modelsFolder)
  return namesIn(store)
    .sort()
    .flatMap((name) => {
      const folder = join(store, name)
      const record = readStoredRecord(folder)
      if (record?.id !== name) return []
      const { id, kind, engine, languages, revision, memoryBytes } = record
      return [{ id, kind, engine, languages, revision, memoryBytes, folder }]
    })
}

/** Returns the record in the folder of a model; undefined when there is none that can be used. */
export function readStoredRecord(folder: string): StoredRecord | undefined {
  try {
    const text = readFileSync(join(folder, RECORD_FILE), 'utf8')
    // Early versions spelled it `licence`.
    const { licence, license = licence, ...record } = JSON.parse(text)
    const read: unknown = { ...record, license }
    return isRecord(read) ? read : undefined
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => !name.startsWith('.'))
  } catch {
    return [] // There is no store before the first model is installed.
  }
}

function isRecord(value: unknown): value is StoredRecord {
  if (typeof value !== 'object' || value === null) return false
  const { id, kind, engine, languages, license, revision, memoryBytes, files } =
    value as Partial<StoredRecord>
  return (
    [id, license, revision].every((text) => typeof text === 'string') &&
    modelKinds.includes(kind as ModelKind) &&
    engineNames.includes(engine as EngineName) &&
    Array.isArray(languages) &&
    languages.every((code) => typeof code === 'string') &&
    typeof memoryBytes === 'number' &&
    typeof files === 'object' &&
    files !== null &&
    Object.entries(files).every(isFile)
  )
}

/** Returns true for a valid file entry. The name becomes a path in the folder of the model. */
function isFile([name, file]: [string, unknown]): boolean {
  const { bytes, sha256 } = (file ?? {}) as { bytes?: unknown; sha256?: unknown }
  return FILE_NAME.test(name) && Number.isSafeInteger(bytes) && typeof sha256 === 'string'
}
