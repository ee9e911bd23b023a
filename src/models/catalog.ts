import { readFileSync } from 'node:fs'

/** The kinds of models. */
export const modelKinds = [
  'recognition',
  'streaming-recognition',
  'language-identification',
  'voice-detection',
  'speaker-embedding',
  'speaker-segmentation',
  'translation',
  'language-model',
] as const

/** One of `modelKinds`. */
export type ModelKind = (typeof modelKinds)[number]

/** The engines that run models. */
export const engineNames = [
  'moonshine',
  'whisper',
  'parakeet',
  'sherpa',
  'remote',
  'llama',
] as const

/** One of `engineNames`. */
export type EngineName = (typeof engineNames)[number]

/**
 * A file in a downloaded zip archive, and the file that it becomes. Members with one `path` are
 * joined in the order of the catalog.
 */
export type ArchiveMember = { member: string; path: string }

/** One download, at an address that always holds the same bytes. */
export type CatalogFile = {
  url: string
  bytes: number
  /** SHA-256 of the download, in hex. */
  sha256: string
  /**
   * Its name in the folder of the model; undefined = a zip archive, of which `members` are kept.
   */
  path?: string
  members?: readonly ArchiveMember[]
}

/** A conversion of downloaded files into those that an engine reads. */
export type Conversion = 'whisper'

/**
 * The version of the files that each conversion writes: a model with an older version is outdated.
 */
export const conversionVersions: Record<Conversion, number> = { whisper: 1 }

/**
 * Whether the accuracy of a model in this program was measured: with its own weights, or with those
 * of another size, which the same code runs.
 */
export type MeasurementSource = 'itself' | 'family'

/** A model that can be installed. */
export type CatalogModel = {
  id: string
  kind: ModelKind
  engine: EngineName
  /** Codes as the API uses them, best first. */
  languages: readonly string[]
  /** SPDX id of the license. */
  license: string
  /** The attribution that the license requires, and what was changed. */
  credit?: string
  /** The memory of a process that has loaded it, in bytes. */
  memoryBytes: number
  /** Absent: only published figures of other programs exist. */
  measured?: MeasurementSource
  /** A short description for users who choose a model. */
  summary: string
  /** The commit or version of the source: another one is another model. */
  revision: string
  files: readonly CatalogFile[]
  conversion?: Conversion
}

/**
 * The format of `catalog.json`: `languages` holds codes separated by spaces, or the name of a set.
 */
type CatalogJson = {
  languageSets: Record<string, string>
  models: (Omit<CatalogModel, 'languages'> & { languages: string })[]
}

let catalog: readonly CatalogModel[] | undefined

/** Returns every model that can be installed; reads the file on the first call. */
export function readCatalog(): readonly CatalogModel[] {
  catalog ??= parseCatalog(readFileSync(new URL('catalog.json', import.meta.url), 'utf8'))
  return catalog
}

function parseCatalog(text: string): CatalogModel[] {
  const { languageSets, models } = JSON.parse(text) as CatalogJson
  return models.map(({ languages, ...model }) => {
    return { ...model, languages: (languageSets[languages] ?? languages).split(' ') }
  })
}

/** Returns the bytes of all downloads of a model. */
export function downloadBytes({ files }: Pick<CatalogModel, 'files'>): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}
