import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashFile } from './files/hash-file.ts'

/** Kinds of models that an operator may install; at most one of each. */
export const speakerModelKinds = ['speaker-embedding', 'speaker-segmentation'] as const

/** One of `speakerModelKinds`. */
export type SpeakerModelKind = (typeof speakerModelKinds)[number]

/** An installed model: its file, and the contents of its record. */
export type InstalledSpeakerModel = {
  kind: SpeakerModelKind
  /** The name that the operator gave it, and the name of its source file. */
  name: string
  origin: string
  path: string
  bytes: number
  sha256: string
}

/** The record of an installed model; `file` is in the same folder. */
export type SpeakerModelRecord = Omit<InstalledSpeakerModel, 'kind' | 'path'> & { file: string }

/**
 * Returns the folder of installed models inside the models folder, separate from the bundled ones.
 */
export function speakerModelsFolder(folder: string): string {
  return join(folder, 'added')
}

/**
 * Returns the path of the record of the model of a kind: written last and removed first, so that a
 * model with a record is complete.
 */
export function speakerModelRecordFile(folder: string, kind: SpeakerModelKind): string {
  return join(speakerModelsFolder(folder), `${kind}.json`)
}

/**
 * Returns the installed model of a kind, if there is one. Blocks; throws `Error` when its record
 * cannot be read.
 */
export function readSpeakerModel(
  folder: string,
  kind: SpeakerModelKind,
): InstalledSpeakerModel | undefined {
  let text: string
  try {
    text = readFileSync(speakerModelRecordFile(folder, kind), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(kind, error)
  }
  const { file, ...record } = parseRecord(text, kind)
  return { kind, ...record, path: join(speakerModelsFolder(folder), file) }
}

/** Returns the installed models of all kinds whose records can be read. Blocks. */
export function readSpeakerModels(folder: string): InstalledSpeakerModel[] {
  return speakerModelKinds.flatMap((kind) => {
    try {
      return readSpeakerModel(folder, kind) ?? []
    } catch {
      return [] // `steno models` and `steno doctor` show the problem and its remedy.
    }
  })
}

/** How the file of a model may be damaged. */
export type FileDamage = 'damaged' | 'missing'

/**
 * Reads the whole file of a model and returns what is wrong with it; undefined when it is intact.
 */
export async function checkSpeakerModelFile({
  path,
  sha256,
}: Pick<InstalledSpeakerModel, 'path' | 'sha256'>): Promise<FileDamage | undefined> {
  try {
    return (await hashFile(path)) === sha256 ? undefined : 'damaged'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing'
    throw error
  }
}

function parseRecord(text: string, kind: SpeakerModelKind): SpeakerModelRecord {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch (error) {
    throw unreadable(kind, error)
  }
  if (!isRecord(record)) throw unreadable(kind)
  return record
}

function isRecord(value: unknown): value is SpeakerModelRecord {
  if (typeof value !== 'object' || value === null) return false
  const { name, origin, file, bytes, sha256 } = value as Record<string, unknown>
  const texts = [name, origin, file, sha256].every((text) => typeof text === 'string')
  return texts && typeof bytes === 'number' && /^[\w-]+\.onnx$/.test(String(file))
}

function unreadable(kind: SpeakerModelKind, cause?: unknown): Error {
  const remedy = `remove it with 'steno models remove ${kind}' and add it again`
  return new Error(`Cannot read the record of the ${kind} model: ${remedy}`, { cause })
}
