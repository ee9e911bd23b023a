import { existsSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { SQLITE_VERSION } from '../database/sqlite/migrate.ts'
import { isImmutable, openChecked } from '../database/sqlite/source-database.ts'
import { DamagedFileError } from '../objects/encryption/encrypted-chunks.ts'

/** The version since which rows contain the sizes of all objects. */
const MIN_VERSION = 8
/** The copy is made in one step, because a concurrent write of a server would restart it. */
const ALL_PAGES = 2 ** 31 - 1

/** An object that rows refer to, and its size in bytes if a row contains it. */
export type KnownObject = { id: string; size: number | null }

/** The database of a data folder, opened for reading; a server may be using it. */
export type BackupSource = Disposable & {
  /** Writes a copy of the database as it is at one moment. */
  copyTo(file: string): Promise<void>
  /** Returns whether a row refers to an object now. */
  refersTo(id: string): boolean
  /** Returns whether a live session has not ended. */
  isOpenSession(id: string): boolean
}

const REFERENCES = `
  select id, size from files
  union all select result_object, result_size from jobs where result_object is not null
  union all select redacted_object, redacted_size from jobs where redacted_object is not null
  union all select body_object, null from deliveries where body_object is not null`

const OPEN_SESSIONS = `select id from jobs where kind = 'live' and status = 'processing'`

/** Opens the database of a data folder; throws if this program does not support its version. */
export function openLiveDatabase(file: string): BackupSource {
  if (!existsSync(file)) throw new Error(`Cannot find a database: ${file} (STENO_DATA_DIR)`)
  const isUnchanged = isImmutable(file)
  const database = openChecked(file, checkCopyVersion, { timeout: 10_000 })
  return {
    async copyTo(copy) {
      await backup(database, copy, { rate: ALL_PAGES })
      if (!isUnchanged || isImmutable(file)) return
      throw new Error(`A server was started on ${file} in the meantime: run the same command again`)
    },
    refersTo(id) {
      const referenceQuery = database.prepare(`select 1 from (${REFERENCES}) where id = ? limit 1`)
      return referenceQuery.get(id) !== undefined
    },
    isOpenSession(id) {
      return database.prepare(`${OPEN_SESSIONS} and id = ?`).get(id) !== undefined
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** Returns the objects that a copy of a database refers to, and the open live sessions. */
export function readReferences(file: string): { objects: KnownObject[]; sessions: string[] } {
  const database = new DatabaseSync(file)
  try {
    const objects = database.prepare(
      `select id, max(size) as size from (${REFERENCES}) group by id order by id`,
    )
    const sessions = database.prepare(OPEN_SESSIONS).all() as { id: string }[]
    return {
      objects: objects.all() as unknown as KnownObject[],
      sessions: sessions.map(({ id }) => id),
    }
  } finally {
    database.close()
  }
}

/** Fails with `DamagedFileError` if the pages of a database are inconsistent. */
export function checkDatabaseCopy(file: string): void {
  const database = new DatabaseSync(file)
  let found: string | undefined
  try {
    const rows = database.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
    found = rows[0]?.quick_check
  } catch (error) {
    found = (error as Error).message
  } finally {
    database.close()
  }
  if (found !== 'ok') throw new DamagedFileError(`the database: ${found}`)
}

function checkCopyVersion(database: DatabaseSync, file: string): void {
  const row = database.prepare('select version from schema_version').get()
  const { version } = row as { version: number }
  if (version >= MIN_VERSION && version <= SQLITE_VERSION) return
  throw new Error(
    `Cannot back up the database ${file}: it has version ${version}, this program supports versions ${MIN_VERSION} to ${SQLITE_VERSION}`,
  )
}
