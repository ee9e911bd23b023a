import { readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseFile, makeDataFolder, RESTORING_MARK } from '../data-folder/data-folder.ts'
import { lockFolder } from '../database/sqlite/folder-lock.ts'
import { objectPath } from '../objects/disk/disk-objects.ts'
import { syncFolder } from '../objects/disk/durable-file.ts'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'
import { readChecked, reportFullDisk, type StoredFile, writeAtomically } from './backup-files.ts'
import { openBackupFolder } from './backup-folder.ts'
import { filesOf } from './check-backup.ts'
import { checkDatabaseCopy, readReferences } from './database-copy.ts'
import { deleteOtherAccounts } from './deletion/delete-other-accounts.ts'
import { DATABASE, listSnapshots, readManifest } from './manifest.ts'

/** A backup, and the data folder to restore it to. */
export type RestoreOptions = {
  /** The folder of backups. */
  source: string
  key: Uint8Array | undefined
  /** The data folder, which must be empty or missing. */
  folder: string
  /** The name of a snapshot; undefined for the newest. */
  snapshot: string | undefined
  /** The only account to restore; undefined for all accounts. */
  account: string | undefined
  signal: AbortSignal
  /** Called with the bytes that were restored, and their total. */
  onProgress?(done: number, total: number): void
}

/** The result of a restoration; the time is in milliseconds since 1970. */
export type RestoreOutcome = {
  snapshot: string
  takenAt: number
  objects: number
  missing: string[]
}

/**
 * Restores a snapshot to a data folder. Everything is compared with the manifest as it is written.
 * The database comes last: no server starts on a folder that has objects without one.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreOutcome> {
  return reportFullDisk(options.folder, () => reportDamage(options.source, () => restore(options)))
}

/** Runs work that reads a backup; the error of a damaged file names the remedy. */
async function reportDamage<T>(source: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error
    const snapshots = (await listSnapshots(source)).join(', ')
    const remedy = `'steno backup ${source} --check' finds all damage, --snapshot NAME restores another snapshot (${snapshots})`
    throw new Error(`Cannot restore from ${source}: ${error.message}; ${remedy}`, { cause: error })
  }
}

async function restore(options: RestoreOptions): Promise<RestoreOutcome> {
  const { source, key, folder, account, signal, onProgress } = options
  const backup = await openBackupFolder(source, { key })
  const snapshot = await chooseSnapshot(source, options.snapshot)
  const manifest = await readManifest(backup, snapshot)
  await takeFolder(folder)
  const lock = lockFolder(folder)
  try {
    const stored = new Map(
      filesOf(backup, snapshot, manifest).map((file, i) => {
        const { name } = [...manifest.files, ...manifest.objects][i]!
        return [name, file]
      }),
    )
    const unfinished = `${databaseFile(folder)}.restoring`
    let done = 0
    let total = 0
    const restoreFile = async (file: StoredFile, path: string) => {
      signal.throwIfAborted()
      const onBytes = (bytes: number) => {
        signal.throwIfAborted()
        done += bytes
        onProgress?.(done, total)
      }
      await writeAtomically(path, readChecked(file, backup.encryption, { onBytes }))
    }
    const need = (name: string): StoredFile => {
      const file = stored.get(name)
      if (!file) throw new Error(`Cannot restore ${snapshot}: its manifest lacks ${name}`)
      return file
    }
    await restoreFile(need(DATABASE), unfinished)
    checkDatabaseCopy(unfinished)
    if (account !== undefined) deleteOtherAccounts(unfinished, account)
    const { objects, sessions } = readReferences(unfinished)
    const lost = new Set(manifest.missing)
    const ids = objects.map(({ id }) => id).filter((id) => !lost.has(id))
    const otherFiles = manifest.files.filter(({ name }) => {
      const [, session] = /^live\/([^/]+)\//.exec(name) ?? []
      return name !== DATABASE && (session === undefined || sessions.includes(session))
    })
    const sizes = [...ids, ...otherFiles.map(({ name }) => name)].map(need)
    total = done + sizes.reduce((sum, { expected }) => sum + expected.size, 0)
    for (const id of ids) await restoreFile(need(id), objectPath(join(folder, 'objects'), id))
    for (const { name } of otherFiles) await restoreFile(need(name), join(folder, name))
    await rename(unfinished, databaseFile(folder))
    await rm(join(folder, RESTORING_MARK))
    await syncFolder(folder)
    const missing = objects.map(({ id }) => id).filter((id) => lost.has(id))
    return { snapshot, takenAt: manifest.takenAt, objects: ids.length, missing }
  } finally {
    lock.release()
  }
}

async function chooseSnapshot(source: string, snapshotName: string | undefined): Promise<string> {
  const all = await listSnapshots(source)
  const newest = all.at(-1)
  if (!newest) throw new Error(`Cannot find a snapshot in ${source}`)
  if (snapshotName === undefined || all.includes(snapshotName)) return snapshotName ?? newest
  throw new Error(
    `Cannot find the snapshot ${snapshotName} in ${source}; it has: ${all.join(', ')}`,
  )
}

/** Creates the folder, or removes the remains of an interrupted restoration. */
async function takeFolder(folder: string): Promise<void> {
  await makeDataFolder(folder)
  const names = await readdir(folder)
  if (names.length > 0 && !names.includes(RESTORING_MARK)) {
    throw new Error(
      `Cannot restore into ${folder}: it is not empty; move everything in it elsewhere, or set STENO_DATA_DIR to an empty folder`,
    )
  }
  await writeFile(join(folder, RESTORING_MARK), '')
  for (const name of names) {
    if (name !== RESTORING_MARK) await rm(join(folder, name), { recursive: true, force: true })
  }
}
