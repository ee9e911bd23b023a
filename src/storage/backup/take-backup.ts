import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { readProgramVersion } from '../../config/version.ts'
import { databaseFile, liveFolder } from '../data-folder/data-folder.ts'
import { objectPath } from '../objects/disk/disk-objects.ts'
import { syncFolder } from '../objects/disk/durable-file.ts'
import {
  type Content,
  measureContent,
  readInLargeBlocks,
  reportFullDisk,
  writeAtomically,
} from './backup-files.ts'
import { type BackupFolder, createBackupFolder, lockBackupFolder } from './backup-folder.ts'
import {
  type BackupSource,
  type KnownObject,
  openLiveDatabase,
  readReferences,
} from './database-copy.ts'
import { removeOldSnapshots } from './deletion/remove-snapshots.ts'
import { removeZeroRetentionJobs } from './deletion/remove-zero-retention-jobs.ts'
import {
  DATABASE,
  type ManifestEntry,
  snapshotFolder,
  snapshotName,
  writeManifest,
} from './manifest.ts'
import { backupObjectPath, type ObjectIndex, openObjectIndex } from './object-index.ts'

/** The current step of a backup. */
export type BackupStage = 'copying the database' | 'copying objects' | 'removing old snapshots'

/** The data folder, the folder of backups, and how to report progress. */
export type BackupOptions = {
  /** The data folder; a server may be running on it. */
  folder: string
  /** The folder of backups, which is created if it is missing. */
  target: string
  /** The content of the key file; undefined for a backup without encryption. */
  key: Uint8Array | undefined
  /** Accounts whose uploads are left out; zero-retention jobs are always left out. */
  zeroRetention?: 'all' | readonly string[]
  /** The number of snapshots to keep. */
  keep: number
  signal: AbortSignal
  /** For tests: how many objects are copied at once. */
  atOnce?: number
  /** `done` and `total` are bytes of objects. */
  onProgress?(stage: BackupStage, done: number, total: number): void
}

/** The result of a backup; sizes in bytes. */
export type BackupOutcome = {
  snapshot: string
  objects: number
  size: number
  /** Objects that no earlier backup had. */
  copied: { objects: number; size: number }
  /** Objects that rows refer to but that are missing. */
  missing: string[]
}

/** Maximum copies of the database that are made until all objects of one exist. */
const MAX_ROUNDS = 10
const CONCURRENT_COPIES = 4

type BackupTask = BackupOptions & {
  backup: BackupFolder
  index: ObjectIndex
  live: BackupSource
  /** The folder of the unfinished snapshot. */
  unfinished: string
  copied: BackupOutcome['copied']
}

/**
 * Adds a snapshot of a data folder to a folder of backups: a copy of the database as of one moment,
 * then the objects that the copy refers to and that are not there yet. If an object was deleted in
 * between, no row refers to it any more, and the database is copied again. A backup that was killed
 * begins again, and keeps the objects that it had copied.
 */
export async function takeBackup(options: BackupOptions): Promise<BackupOutcome> {
  refuseInside(options.folder, options.target)
  return reportFullDisk(options.target, () => addSnapshot(options))
}

async function addSnapshot(options: BackupOptions): Promise<BackupOutcome> {
  const { folder, target, key, keep, signal, onProgress } = options
  using live = openLiveDatabase(databaseFile(folder))
  const backup = await createBackupFolder(target, { key })
  const lock = lockBackupFolder(target)
  try {
    const unfinished = join(target, 'unfinished')
    const index = await openObjectIndex(backup)
    const copied = { objects: 0, size: 0 }
    const task = { ...options, backup, index, live, unfinished, copied }
    for (let round = 1; ; round++) {
      signal.throwIfAborted()
      const snapshot = await takeSnapshot(task)
      if (!snapshot && round < MAX_ROUNDS) continue
      if (!snapshot) throw new Error('Objects are deleted faster than they are copied: try again')
      onProgress?.('removing old snapshots', 0, 1)
      await removeOldSnapshots(backup, index, { keep })
      return { ...snapshot, copied }
    }
  } finally {
    lock.release()
  }
}

/**
 * Throws if the folder of backups is inside the data folder: it would be lost with the same disk,
 * and the server would restrict the access to its files.
 */
function refuseInside(folder: string, target: string): void {
  const path = relative(resolve(folder), resolve(target))
  if (path.split(sep)[0] === '..' || isAbsolute(path)) return
  throw new Error(`Cannot back up into ${target}: it is inside the data folder ${folder}`)
}

/** Takes a snapshot; undefined if an object was deleted before it was copied. */
async function takeSnapshot(task: BackupTask): Promise<Omit<BackupOutcome, 'copied'> | undefined> {
  const { folder, target, backup, live, unfinished, zeroRetention = [], onProgress } = task
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished)
  onProgress?.('copying the database', 0, 1)
  const takenAt = Date.now()
  const snapshot = snapshotName(takenAt)
  const copy = join(unfinished, 'copy.sqlite')
  await live.copyTo(copy)
  removeZeroRetentionJobs(copy, zeroRetention)
  const { objects, sessions } = readReferences(copy)
  const store = (name: string, file: string, size?: number) => {
    return storeFile(task, { snapshot, name, file, size })
  }
  const files = [await store(DATABASE, copy)]
  await rm(copy)
  for (const id of sessions) {
    const sessionFiles = await storeSession(task, id, store)
    if (sessionFiles === 'gone') return undefined
    files.push(...sessionFiles)
  }
  const clock = 'steno.sqlite.clock'
  const hasClock = await stat(join(folder, clock)).catch(() => undefined)
  if (hasClock) files.push(await store(clock, join(folder, clock)))
  const stored = await storeObjects(task, objects)
  if (!stored) return undefined
  const manifest = { takenAt, version: readProgramVersion(), files, ...stored }
  await writeManifest(backup, { snapshot, folder: unfinished }, manifest)
  await mkdir(join(target, 'snapshots'), { recursive: true })
  await rename(unfinished, snapshotFolder(target, snapshot))
  await syncFolder(join(target, 'snapshots'))
  const size = [...files, ...stored.objects].reduce((sum, item) => sum + item.size, 0)
  return { snapshot, objects: stored.objects.length, size, missing: stored.missing }
}

type SnapshotFile = { snapshot: string; name: string; file: string; size?: number | undefined }

/** Copies a file of the data folder, up to a size, to the unfinished snapshot. */
async function storeFile(
  { backup: { encryption }, unfinished, signal }: BackupTask,
  { snapshot, name, file, size }: SnapshotFile,
): Promise<ManifestEntry> {
  let content: Content | undefined
  const onEnd = (measured: Content) => {
    content = measured
  }
  const onBytes = () => signal.throwIfAborted()
  const source = measureContent(
    readInLargeBlocks(file, size === undefined ? {} : { size }),
    encryption,
    {
      onBytes,
      onEnd,
    },
  )
  await writeAtomically(
    join(unfinished, name),
    encryption.encrypt(`snapshots/${snapshot}/${name}`, source),
  )
  return { name, ...content! }
}

/**
 * Copies the files of an open session. The log comes first, up to its current size, so that the
 * audio that it reports is in the copy, too. Returns `gone` if the session has ended in the
 * meantime.
 */
async function storeSession(
  { folder, live }: BackupTask,
  id: string,
  store: (name: string, file: string, size: number) => Promise<ManifestEntry>,
): Promise<ManifestEntry[] | 'gone'> {
  const stored: ManifestEntry[] = []
  for (const part of ['log', 'sound']) {
    const file = join(liveFolder(folder), id, part)
    try {
      const { size } = await stat(file)
      stored.push(await store(`live/${id}/${part}`, file, size))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // A server that resumes a session without its files fails the session.
      return live.isOpenSession(id) ? [] : 'gone'
    }
  }
  return stored
}

/** Copies objects; undefined if an object and its last row were deleted before it was copied. */
async function storeObjects(
  task: BackupTask,
  objects: readonly KnownObject[],
): Promise<{ objects: ManifestEntry[]; missing: string[] } | undefined> {
  const { live, signal, onProgress, atOnce = CONCURRENT_COPIES } = task
  const total = objects.reduce((sum, { size }) => sum + (size ?? 0), 0)
  const entries: ManifestEntry[] = []
  const missing: string[] = []
  const remainingObjects = objects.values()
  let done = 0
  let isDeleted = false
  async function run(): Promise<void> {
    for (const { id, size } of remainingObjects) {
      signal.throwIfAborted()
      const content = await storeObject(task, id)
      if (content) entries.push({ name: id, ...content })
      else if (live.refersTo(id)) missing.push(id)
      else isDeleted = true
      done += content?.size ?? size ?? 0
      onProgress?.('copying objects', Math.min(done, total), total)
    }
  }
  // The first failure is reported when no write is in progress any more.
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, run))
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
  if (isDeleted) return undefined
  return { objects: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), missing: missing.sort() }
}

/** Copies an object unless the backup has it; undefined if it no longer exists. */
async function storeObject(
  { folder, backup: { path, encryption }, index, signal, copied }: BackupTask,
  id: string,
): Promise<Content | undefined> {
  const storedContent = await index.find(id)
  // Once a row refers to an id, the id is never reused for other content.
  if (storedContent) return storedContent
  let content: Content | undefined
  const onEnd = (measured: Content) => {
    content = measured
  }
  const onBytes = () => signal.throwIfAborted()
  try {
    const file = objectPath(join(folder, 'objects'), id)
    const source = measureContent(readInLargeBlocks(file), encryption, { onBytes, onEnd })
    await writeAtomically(backupObjectPath(path, id), encryption.encrypt(`objects/${id}`, source))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  await index.add(id, content!)
  copied.objects++
  copied.size += content!.size
  return content
}
