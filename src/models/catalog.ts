/** What a model is for. */
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

/** Which code runs a model. */
export const engineNames = ['moonshine', 'whisper', 'parakeet', 'sherpa', 'remote'] as const

/** One of `engineNames`. */
export type EngineName = (typeof engineNames)[number]

/**
 * A piece of a downloaded archive, and the file that it becomes. Pieces of one `path` are joined in
 * the order of the catalog.
 */
export type ArchiveMember = { member: string; path: string }

/** One download, at an address that always holds the same bytes. */
export type CatalogFile = {
  url: string
  bytes: number
  /** SHA-256 of the download, in hex. */
  sha256: string
  /** Its name in the folder of the model; undefined = a zip archive, of which `members` are kept. */
  path?: string
  members?: readonly ArchiveMember[]
}

/** A model that can be installed. */
export type CatalogModel = {
  id: string
  kind: ModelKind
  engine: EngineName
  /** ISO 639 codes as the API uses them, best first. */
  languages: readonly string[]
  /** SPDX id, or the name of the licence. */
  licence: string
  /** Whom the licence wants to be named, and what was changed. */
  credit?: string
  /** What a process that has loaded it takes, in bytes. */
  memoryBytes: number
  /** One sentence for people who choose. */
  summary: string
  /** The commit or version of the source: another one is another model. */
  revision: string
  files: readonly CatalogFile[]
  /** What turns the downloaded files into those that the engine reads; undefined = nothing. */
  conversion?: 'whisper'
}
