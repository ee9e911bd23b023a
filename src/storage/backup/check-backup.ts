import { join } from 'node:path'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'
import { type OnBytes, readChecked, type StoredFile } from './backup-files.ts'
import { type BackupFolder, lockBackupFolder, openBackupFolder } from './backup-folder.ts'
import { listSnapshots, type Manifest, readManifest, snapshotFolder } from './manifest.ts'
import { backupObjectPath, openObjectIndex } from './object-index.ts'

/** A folder of backups to check. */
export type BackupCheckOptions = {
  target: string
  key: Uint8Array | undefined
  signal: AbortSignal
  /** Called with the bytes that were read, and their total. */
  onProgress?(done: number, total: number): void
}

/** The files that were read, and the damage that was found, one line each. */
export type CheckOutcome = {
  snapshots: number
  files: number
  size: number
  problems: string[]
  /** The number of damaged objects that the next backup copies again. */
  unlisted: number
}

/** The prefix of the names of objects; the names of files in a snapshot begin differently. */
const OBJECTS = 'objects/'

/**
 * Reads every file of every snapshot, and each object once, and compares them with the manifests.
 * The next backup copies damaged objects again, as long as the data folder has them.
 */
export async function checkBackup(options: BackupCheckOptions): Promise<CheckOutcome> {
  const { target, key, signal, onProgress } = options
  const backup = await openBackupFolder(target, { key })
  const snapshots = await listSnapshots(target)
  if (snapshots.length === 0) throw new Error(`Cannot find a snapshot in ${target}`)
  const problems: string[] = []
  const files = new Map<string, StoredFile>()
  for (const snapshot of snapshots) {
    try {
      const manifest = await readManifest(backup, snapshot)
      for (const file of filesOf(backup, snapshot, manifest)) {
        // An id has one object, even if several snapshots refer to it.
        files.set(`${file.name} ${file.expected.digest}`, file)
      }
      for (const id of manifest.missing) {
        problems.push(`snapshots/${snapshot}: the object ${id} was lost before it was taken`)
      }
    } catch (error) {
      if (!(error instanceof DamagedFileError)) throw error
      problems.push(error.message)
    }
  }
  const total = [...files.values()].reduce((sum, { expected }) => sum + expected.size, 0)
  let done = 0
  const onBytes = (bytes: number) => {
    signal.throwIfAborted()
    done += bytes
    onProgress?.(done, total)
  }
  const damaged = new Set<string>()
  for (const file of files.values()) {
    signal.throwIfAborted()
    const problem = await findFileProblem(file, backup, onBytes)
    if (!problem) continue
    problems.push(problem)
    if (file.name.startsWith(OBJECTS)) damaged.add(file.name.slice(OBJECTS.length))
  }
  const unlisted = await unlistObjects(backup, damaged)
  return { snapshots: snapshots.length, files: files.size, size: total, problems, unlisted }
}

/**
 * Removes damaged objects from the index and returns how many. Returns 0 if the folder cannot be
 * written, or a backup is running.
 */
async function unlistObjects(backup: BackupFolder, damaged: ReadonlySet<string>): Promise<number> {
  if (damaged.size === 0) return 0
  try {
    const lock = lockBackupFolder(backup.path)
    try {
      await (await openObjectIndex(backup)).remove(damaged)
      return damaged.size
    } finally {
      lock.release()
    }
  } catch {
    return 0
  }
}

/** Returns all files and objects of a snapshot. */
export function filesOf(
  { path }: Pick<BackupFolder, 'path'>,
  snapshot: string,
  { files, objects }: Pick<Manifest, 'files' | 'objects'>,
): StoredFile[] {
  const ofSnapshot = files.map(({ name, ...expected }) => ({
    name: `snapshots/${snapshot}/${name}`,
    path: join(snapshotFolder(path, snapshot), name),
    expected,
  }))
  const shared = objects.map(({ name: id, ...expected }) => ({
    name: `${OBJECTS}${id}`,
    path: backupObjectPath(path, id),
    expected,
  }))
  return [...ofSnapshot, ...shared]
}

async function findFileProblem(
  file: StoredFile,
  { encryption }: BackupFolder,
  onBytes: OnBytes,
): Promise<string | undefined> {
  try {
    for await (const _ of readChecked(file, encryption, { onBytes }));
    return undefined
  } catch (error) {
    if (error instanceof DamagedFileError) return error.message
    throw error
  }
}
