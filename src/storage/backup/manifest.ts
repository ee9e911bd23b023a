import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'
import { isObjectId } from '../objects/object-store.ts'
import { type Content, isContent, writeAtomically } from './backup-files.ts'
import type { BackupFolder } from './backup-folder.ts'

/** A file or an object of a snapshot, with its path in the snapshot or its id. */
export type ManifestEntry = Content & { name: string }

/** The content of a snapshot. */
export type Manifest = {
  /** The time of the snapshot, in milliseconds since 1970. */
  takenAt: number
  /** The version of the program that created it. */
  version: string
  /** The database and the files of open live sessions, by their path in the data folder. */
  files: ManifestEntry[]
  /** The objects that the database refers to, by their ids. */
  objects: ManifestEntry[]
  /** Objects that were already missing when the snapshot was taken. */
  missing: string[]
}

/** The database in a snapshot. */
export const DATABASE = 'steno.sqlite'

const SNAPSHOTS = 'snapshots'
/** The files of a data folder that are copied. */
const FILES = /^(steno\.sqlite(\.clock)?|live\/[0-9a-f-]{36}\/(log|sound))$/
const NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** Returns the name of a snapshot taken at a time, in milliseconds since 1970. */
export function snapshotName(takenAt: number): string {
  return new Date(takenAt).toISOString().replace(/[:.]/g, '-')
}

/** Returns the folder of a snapshot. */
export function snapshotFolder(path: string, name: string): string {
  return join(path, SNAPSHOTS, name)
}

/** Returns the names of all snapshots, oldest first. */
export async function listSnapshots(path: string): Promise<string[]> {
  const names = await readdir(join(path, SNAPSHOTS)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') throw error
    return []
  })
  return names.filter((name) => NAME.test(name)).sort()
}

const manifestName = (snapshot: string) => `${SNAPSHOTS}/${snapshot}/manifest`

/** Writes the manifest of a snapshot, in a folder that is renamed afterwards. */
export async function writeManifest(
  { encryption }: BackupFolder,
  { snapshot, folder }: { snapshot: string; folder: string },
  { objects, ...head }: Manifest,
): Promise<void> {
  async function* lines(): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    const write = (value: unknown) => {
      const line = Buffer.from(`${JSON.stringify(value)}\n`)
      hash.update(line)
      return line
    }
    yield write(head)
    for (const { name, size, digest } of objects) yield write([name, size, digest])
    yield Buffer.from(`${JSON.stringify({ end: hash.digest('hex') })}\n`)
  }
  const content = encryption.encrypt(manifestName(snapshot), lines())
  await writeAtomically(join(folder, 'manifest'), content)
}

/**
 * Reads the manifest of a snapshot; fails with `DamagedFileError` if it differs from what was
 * written.
 */
export async function readManifest(
  { path, encryption }: BackupFolder,
  snapshot: string,
): Promise<Manifest> {
  const name = manifestName(snapshot)
  const file = join(snapshotFolder(path, snapshot), 'manifest')
  const stored = await readFile(file).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new DamagedFileError(`${name}: it is missing`)
  })
  try {
    const wholeManifest = (async function* () {
      yield stored as Uint8Array
    })()
    return parseManifest(await buffer(encryption.decrypt(name, wholeManifest)))
  } catch (error) {
    const reason = error instanceof DamagedFileError ? error.message : 'it is damaged'
    throw new DamagedFileError(`${name}: ${reason}`)
  }
}

function parseManifest(bytes: Buffer): Manifest {
  const end = bytes.lastIndexOf(10, -2) + 1
  const hash = createHash('sha256').update(bytes.subarray(0, end)).digest('hex')
  const last = JSON.parse(bytes.toString('utf8', end)) as { end?: string }
  if (last.end !== hash) throw new DamagedFileError('its content was changed or truncated')
  const [head, ...entries] = bytes.toString('utf8', 0, end).trimEnd().split('\n')
  const objects = entries.map((line) => {
    const [name, size, digest] = JSON.parse(line) as [string, number, string]
    return { name, size, digest }
  })
  const { takenAt, version, files, missing } = JSON.parse(head!) as Omit<Manifest, 'objects'>
  const isHead =
    Number.isFinite(new Date(takenAt).getTime()) &&
    typeof version === 'string' &&
    [...files, ...objects].every(isContent) &&
    missing.every((id) => typeof id === 'string' && isObjectId(id))
  if (!isHead) throw new DamagedFileError('it is damaged')
  // Names become paths, so they must be checked.
  const isKnown =
    files.every(({ name }) => FILES.test(name)) && objects.every(({ name }) => isObjectId(name))
  if (!isKnown || !files.some(({ name }) => name === DATABASE)) {
    throw new DamagedFileError('it names files that no backup holds')
  }
  return { takenAt, version, files, objects, missing }
}
