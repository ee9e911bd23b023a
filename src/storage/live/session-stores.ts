import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { liveCopyFolder, liveFolder } from '../data-folder/data-folder.ts'
import type { Db } from '../database/db.ts'
import type { Lease } from '../jobs/queue/lease.ts'
import {
  createDiskSessionStore,
  type DiskSessionStore,
  openDiskSessionStore,
} from './disk-session-store.ts'
import { createBatchWriter } from './session-batches.ts'
import { copyAbandonedSession, openSharedStore } from './shared-session-store.ts'

/** How the log of a session is read, and what happens when another process takes it. */
export type OpenStoreOptions = {
  audioAfter(line: string): number | undefined
  onTaken(): void
}

/**
 * Where the audio and the log of sessions are: in the data folder, or in the shared database, so
 * that any node can go on with them.
 */
export type SessionStores = {
  /** The folder of a session while it is open here; samples may be put beside its audio. */
  folderOf(jobId: string): string
  /** Opens a session under its lease; `isNew` if no process has before. */
  open(
    lease: Lease,
    options: OpenStoreOptions,
  ): Promise<{ store: DiskSessionStore; isNew: boolean }>
  /**
   * Opens what earlier processes left of a session, without a lease; undefined if that is nothing.
   */
  openWithoutLease(
    jobId: string,
    options: Pick<OpenStoreOptions, 'audioAfter'>,
  ): Promise<DiskSessionStore | undefined>
}

/** Creates the part of a process that opens sessions below its data folder. */
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
    async open({ id }, options) {
      const leftStore = await openWithoutLease(id, options)
      return { store: leftStore ?? (await createDiskSessionStore(folderOf(id))), isNew: !leftStore }
    },
  }
}

function sharedSessions(db: Db, folder: string): SessionStores {
  const writer = createBatchWriter(db)
  const copies = liveCopyFolder(folder, db.owner)
  const folderOf = (jobId: string) => join(copies, jobId)
  const earlierFolder = (jobId: string) => join(liveFolder(folder), jobId)
  return {
    folderOf,
    async openWithoutLease(jobId, options) {
      const copy = await copyAbandonedSession({ db, jobId, folder: folderOf(jobId) })
      return copy ?? openExisting(earlierFolder(jobId), options)
    },
    open({ id, epoch }, options) {
      const folders = { folder: folderOf(id), earlierFolder: earlierFolder(id) }
      return openSharedStore({ db, writer, jobId: id, epoch, ...folders, ...options })
    },
  }
}

/**
 * Opens the files that an earlier process left; one that was killed at the wrong moment may not
 * have created them.
 */
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
