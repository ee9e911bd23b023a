import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { roles } from '../config/node.ts'
import type { DatabaseConfig } from '../config/storage/database.ts'
import type { ObjectStoreConfig } from '../config/storage/object-store.ts'
import type { Log } from '../observability/log.ts'
import {
  databaseFile,
  hasLocalObjects,
  makeDataFolder,
  refuseEmptyDatabase,
  refuseLocalObjects,
  refuseMissingDatabase,
  refuseOtherDatabase,
  refuseUnknownObjects,
} from './data-folder/data-folder.ts'
import { createDiskMeter, type MeasureDisk } from './data-folder/disk.ts'
import { DiskSpace, type SpaceSettings } from './data-folder/disk-space.ts'
import type { Database, Db } from './database/db.ts'
import { type NodeState, OwnNode } from './database/nodes/nodes.ts'
import { registerNode } from './database/nodes/register-node.ts'
import { lockFolder } from './database/sqlite/folder-lock.ts'
import { logProgress } from './database/sqlite/migration-progress.ts'
import { type ConnectSqlite, openReadPool, openSqlite } from './database/sqlite/sqlite.ts'
import { sqliteDialect } from './database/sqlite/sqlite-dialect.ts'
import { type DeletionClock, openDeletionClock } from './jobs/deletion/deletion-clock.ts'
import { openDiskObjects } from './objects/disk/disk-objects.ts'
import { restrictAccess, restrictFilesBelow } from './objects/disk/file-modes.ts'
import { withEncryption } from './objects/encryption/encrypted-objects.ts'
import { type KeySource, loadObjectKeys } from './objects/encryption/object-keys.ts'
import { recordObjectKeys } from './objects/encryption/used-keys.ts'
import { ObjectDeletions } from './objects/object-deletions.ts'
import type { ObjectStore } from './objects/object-store.ts'
import { findObjectStoreId, requireSameObjectStore } from './objects/object-store-id.ts'
import { findKnownObjects, hasRecordings } from './objects/orphans/known-objects.ts'
import { restoreOrphanObjects } from './objects/orphans/orphan-objects.ts'
import { type Orphans, openOrphans } from './objects/orphans/orphans.ts'
import { Sweeper } from './objects/orphans/sweep.ts'

/**
 * Everything that a server stores: recordings and results as objects, in a folder or in
 * S3-compatible storage, and rows in a database, in the folder or shared.
 */
export type Storage = {
  db: Db
  objects: ObjectStore
  /** The limits of what accounts may store. */
  space: DiskSpace
  /** Unreferenced objects; undefined if they are not kept. */
  orphans: Orphans | undefined
  /** Decides whether the clock may be trusted; checked before old data is deleted. */
  deletionClock: DeletionClock
  /** This process as a node, for others on the same database. */
  node: OwnNode
  /** Resolves when unreferenced objects have been moved away. */
  swept: Promise<void>
  close(): Promise<void>
}

/** The options of a data folder, and its limits. */
export type StorageOptions = SpaceSettings & {
  folder: string
  /** A PostgreSQL database, which any number of servers share, instead of SQLite in the folder. */
  database?: DatabaseConfig | undefined
  /** S3-compatible storage of objects, instead of files in the folder. */
  objectStore?: ObjectStoreConfig | undefined
  /** The source of the keys of objects; by default, objects are not encrypted. */
  objectKeys?: KeySource | undefined
  log: Log
  /** Aborts a migration of the database, which then stays unchanged. */
  signal?: AbortSignal | undefined
  /** False deletes unreferenced objects instead of keeping them as orphans. */
  keepOrphans?: boolean
  /**
   * Whether other processes may have the folder open, too, as with a shared database. Otherwise the
   * folder is locked, and an earlier server is known to be dead.
   */
  isShared?: boolean
  /** The first state that this process reports to others on the same database. */
  node?: NodeState | undefined
  /** For tests: milliseconds between heartbeats. */
  heartbeatMs?: number | undefined
  /** Whether to trust a clock that is far ahead of the last run. */
  trustClock?: boolean
  /** For tests: replaces the objects on disk. */
  objects?: ObjectStore | undefined
  /** For tests: replaces the measurement of the disk. */
  disk?: MeasureDisk | undefined
  /** For tests: opens connections to the database. */
  connect?: ConnectSqlite | undefined
}

/** The options that decide where the objects are stored. */
export type ObjectStoreOptions = Pick<
  StorageOptions,
  'folder' | 'objects' | 'objectStore' | 'log' | 'signal'
>

/**
 * Opens the data folder: creates it if needed, denies other users access, and locks it for this
 * process. Starts to move away unreferenced objects of earlier processes.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { folder, log } = options
  await makeDataFolder(folder)
  await using opened = new AsyncDisposableStack()
  const isAlone = !options.isShared && !options.database
  if (isAlone) {
    const lock = lockFolder(folder)
    opened.defer(() => lock.release())
  }
  await refuseMisplacedData(options)
  const open = await restrictAccess(folder)
  if (open.length > 0) log.warn({ open }, 'removed the access of other users to files')
  const isTrusted = options.trustClock ?? false
  const deletionClock = await openDeletionClock({ folder, log, isTrusted })
  const nodeId = randomUUID()
  const keys = await loadObjectKeys(options.objectKeys ?? {})
  const isEmpty = !options.objectStore && !(await hasLocalObjects(folder))
  const stored = await openObjects(options, nodeId)
  opened.defer(async () => stored.close?.())
  const decrypted = { folder: join(folder, 'decrypted'), nodeId }
  const objects = keys ? withEncryption(stored, { keys, ...decrypted }) : stored
  const { close: closeDatabase, ...database } = await openDatabase(options, objects)
  opened.defer(closeDatabase)
  const deletions = createDeletions(database, objects, log)
  opened.defer(() => deletions.close())
  const db = { ...database, objects, deletions, nodeId }
  if (isEmpty && (await hasRecordings(db))) reportEmptyFolder(options)
  opened.defer(() => deletionClock.close())
  await recordObjectKeys(db, keys)

  const earlierOrphans = openOrphans(join(folder, 'orphans'), stored)
  const orphans = options.keepOrphans === false ? undefined : earlierOrphans
  const sweeper = new Sweeper({ db, log, orphans })
  const onNodesLost = () => sweeper.sweepAgain()
  const storeId = db.isShared ? await findObjectStoreId(folder, options.objectStore) : undefined
  const state = options.node ?? { roles, version: '', isDraining: false }
  const node = new OwnNode({ ...state, ...(storeId && { objects: storeId }) }, log)
  const nodeOptions = { log, isAlone, onNodesLost, node, heartbeatMs: options.heartbeatMs }
  opened.defer(await registerNode(db, nodeOptions))
  opened.defer(() => sweeper.close())
  if (storeId) await requireSameObjectStore(db, storeId)
  const taken = await restoreOrphanObjects(db, earlierOrphans)
  if (taken > 0) log.info({ taken }, 'restored orphaned objects that are referenced again')
  const { done } = await sweeper.start({ isAlone })
  const closing = new AbortController()
  const restricted = restrictFilesBelow(open, closing).catch((err) => {
    log.warn({ err }, 'cannot remove the access of other users to files')
  })
  opened.defer(async () => {
    closing.abort()
    await restricted
  })
  const swept = Promise.all([done, restricted]).then(() => {})
  // The size of the disk is irrelevant for a bucket.
  const accountMaxBytes = options.accountMaxBytes ?? (options.objectStore ? 0 : undefined)
  const disk = options.disk ?? createDiskMeter(folder)
  const space = new DiskSpace({ ...options, accountMaxBytes, db, disk })
  const parts = opened.move()
  const close = () => parts.disposeAsync()
  return { db, objects, space, orphans, deletionClock, node, swept, close }
}

async function refuseMisplacedData(options: StorageOptions): Promise<void> {
  const { folder, database, objectStore } = options
  if (database) await refuseOtherDatabase(folder)
  else await refuseMissingDatabase(folder)
  if (objectStore) await refuseLocalObjects(folder)
}

function reportEmptyFolder({ folder, log }: StorageOptions): void {
  const remedy = 'stop the server, and mount its disk, put it back or restore a backup'
  log.error({ folder: join(folder, 'objects'), remedy }, 'the folder of all recordings is empty')
}

/** Opens the store of the objects, without encryption. */
export async function openObjects(
  options: ObjectStoreOptions,
  nodeId: string,
): Promise<ObjectStore> {
  const { folder, objects, objectStore: settings, log, signal } = options
  if (objects) return objects
  if (!settings) return openDiskObjects(join(folder, 'objects'), { nodeId })
  // The client is loaded only here, so that a start without this setting does not read it.
  const { openS3Objects } = await import('./objects/s3/s3-objects.ts')
  return openS3Objects({
    settings,
    nodeId,
    signal,
    folder: join(folder, 'cache'),
    onWait: (reason) => log.warn(reason, 'the object store cannot be reached yet'),
  })
}

function createDeletions(database: Database, objects: ObjectStore, log: Log): ObjectDeletions {
  const findReferenced = (ids: readonly string[]) => findKnownObjects(database, ids)
  return new ObjectDeletions({ objects, findReferenced, log })
}

type ClosableDatabase = Database & { close(): Promise<void> }

async function openDatabase(
  options: StorageOptions,
  objects: ObjectStore,
): Promise<ClosableDatabase> {
  const { folder, log, signal, connect, database, objectStore } = options
  if (database) return openShared(database, options, objects)
  const file = databaseFile(folder)
  if (objectStore && !existsSync(file)) await refuseUnknownObjects(objects)
  const sql = await openSqlite(file, { signal, progress: logProgress(log), connect })
  const reader = openReadPool(file, connect)
  const close = async () => {
    await reader.destroy()
    await sql.destroy()
  }
  return { sql, reader, dialect: sqliteDialect, close }
}

async function openShared(
  database: DatabaseConfig,
  { folder, objectStore, log, signal }: StorageOptions,
  objects: ObjectStore,
): Promise<ClosableDatabase> {
  // The driver is loaded only here, so that a start without this setting does not read it.
  const { openPostgres } = await import('./database/postgres/postgres.ts')
  return openPostgres(database, {
    version: 'migrate',
    signal,
    onWait: (reason) => log.warn(reason, 'the database cannot be reached yet'),
    onMigration: (versions) => log.info(versions, 'migrating the database, this may take minutes'),
    onEmpty: async () => {
      await refuseEmptyDatabase(folder)
      if (objectStore) await refuseUnknownObjects(objects)
    },
    onIdleError: (err) => log.warn({ err }, 'a connection to the database was lost'),
    onVacuumError: (err) => log.warn({ err }, 'cannot free the space of deleted rows yet'),
  })
}
