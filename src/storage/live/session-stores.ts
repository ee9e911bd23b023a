import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { liveCopyFolder, liveFolder } from '../data-folder/data-folder.ts'
import type { Db } from '../database/db.ts'
import type { Lease } from '../jobs/queue/lease.ts'
import {
  createDiskSessionStore,
  type DiskSessionStore,
  openDiskSessionStore,
  removeDiskSessionStore,
} from './disk-session-store.ts'
import { createBatchWriter } from './session-batches.ts'
import { copyAbandonedSession, openSharedStore } from './shared-session-store.ts'

/**
 * How the log of a session is read, and the callback for when another process has taken the session
 * over.
 */
export type OpenStoreOptions = {
  audioAfter(line: string): number | undefined
  onTaken(): void
}

/**
 * Opens the audio and the log of sessions: in the data folder, or in the shared database, so that
 * any node can continue them.
 */
export type SessionStores = {
  /** The folder of a session that is open here; samples may be stored beside its audio. */
  folderOf(jobId: string): string
  /** Opens a session under its lease. `isNew`: no process has opened it before. */
  open(
    lease: Lease,
    options: OpenStoreOptions,
  ): Promise<{ store: DiskSessionStore; isNew: boolean }>
  /** Opens the data of earlier processes without a lease; undefined if there is none. */
  openWithoutLease(
    jobId: string,
    options: Pick<OpenStoreOptions, 'audioAfter'>,
  ): Promise<DiskSessionStore | undefined>
  /** Removes the files of a session that has ended and is not open here. */
  remove(jobId: string): Promise<void>
}

/** Creates the stores of a process, whose sessions have folders in its data folder. */
export function createSessionStores(db: Db, folder: string): SessionStores {
  return db.isShared ? sharedSessions(db, folder) : localSessions(folder)
}

function localSessions(folder: string): SessionStores {
  const folderOf = (jobId: string) => join(liveFolder(folder), jobId)
  const openWithoutLease: SessionStores['openWithoutLease'] = (jobId, options) =>
    openExisting(folderOf(jobId), options)
  return {
    folderOf,
    openWithoutLease,
    remove: (jobId) => removeDiskSessionStore(folderOf(jobId)),
    async open({ id }, options) {
      const existingStore = await openWithoutLease(id, options)
      return {
        store: existingStore ?? (await createDiskSessionStore(folderOf(id))),
        isNew: !existingStore,
      }
    },
  }
}

function sharedSessions(db: Db, folder: string): SessionStores {
  const writer = createBatchWriter(db)
  const copies = liveCopyFolder(folder, db.nodeId)
  const folderOf = (jobId: string) => join(copies, jobId)
  const earlierFolder = (jobId: string) => join(liveFolder(folder), jobId)
  return {
    folderOf,
    async openWithoutLease(jobId, options) {
      const copy = await copyAbandonedSession({ db, jobId, folder: folderOf(jobId) })
      return copy ?? openExisting(earlierFolder(jobId), options)
    },
    async remove(jobId) {
      await removeDiskSessionStore(folderOf(jobId))
      await removeDiskSessionStore(earlierFolder(jobId))
    },
    open({ id, epoch }, options) {
      const folders = { folder: folderOf(id), earlierFolder: earlierFolder(id) }
      return openSharedStore({ db, writer, jobId: id, epoch, ...folders, ...options })
    },
  }
}

/** Opens the files of an earlier process, which may have been killed before it created them. */
async function openExisting(
  folder: string,
  options: Pick<OpenStoreOptions, 'audioAfter'>,
): Promise<DiskSessionStore | undefined> {
  try {
    return await openDiskSessionStore(folder, options)
  } catch (error) {
    if (error instanceof AppError && error.code === 'file_not_found') return undefined
    throw error
  }
}
