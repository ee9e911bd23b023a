import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { linkOrCopy, syncFolder } from '../disk/durable-file.ts'
import { ignoreMissingFile, isMissingFile } from '../disk/missing-file.ts'
import { isObjectId, LIST_SIZE, type ObjectStore, type OrphanObjects } from '../object-store.ts'

/**
 * Objects and folders of live sessions that no row refers to. They are kept for a time, because the
 * database may be a restored older one; with the newer one, they are moved back.
 */
export type Orphans = OrphanObjects & {
  /** Moves the folder of a live session to the orphans. */
  addSession(folder: string): Promise<void>
  /**
   * Moves the folder of a live session back, unless the folder exists; does nothing if the session
   * is not an orphan.
   */
  restoreSession(folder: string): Promise<void>
}

/** The prefix of the id of a session, whose folder is next to the files of objects. */
const SESSION_PREFIX = 'live-'

/**
 * Stores orphans of `objects` as files in `folder`, which is created when needed. If the store of
 * the objects keeps its own orphans, only sessions are in the folder.
 */
export function openOrphans(folder: string, objects: ObjectStore): Orphans {
  const local = openLocalOrphans(folder, objects)
  const { orphans: stored } = objects
  if (!stored) return local
  return {
    ...local,
    ...stored,
    async deleteBefore(moment, options) {
      const deleted = await local.deleteBefore(moment, options)
      return deleted + (await stored.deleteBefore(moment, options))
    },
  }
}

function openLocalOrphans(folder: string, objects: ObjectStore): Orphans {
  async function* list(): AsyncGenerator<string[]> {
    const ids = (await readdir(folder).catch(() => [])).filter(isObjectId)
    for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
  }

  const sessionPath = (session: string) => join(folder, SESSION_PREFIX + basename(session))

  return {
    list,
    async add(id, { signal }) {
      const orphan = join(folder, id)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      try {
        await using file = await objects.openLocalCopy(id, { signal })
        // A killed process may have left it here before the object was deleted.
        await rm(orphan, { force: true })
        await linkOrCopy(file.path, orphan)
      } catch (error) {
        if (isMissingFile(error)) return
        throw error
      }
      await utimes(orphan, new Date(), new Date())
      await syncFolder(folder)
      await objects.delete(id)
    },
    async addSession(session) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await utimes(session, new Date(), new Date())
      await rename(session, sessionPath(session))
    },
    async restoreSession(session) {
      if (await stat(session).catch(() => undefined)) return
      await rename(sessionPath(session), session).catch((error) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
    async restore(id) {
      if (await objects.check(id).catch(ignoreMissingFile)) return
      await objects.adopt(id, join(folder, id))
      await rm(join(folder, id), { force: true })
    },
    async deleteBefore(moment, { signal }) {
      let deleted = 0
      for (const name of await readdir(folder).catch(() => [])) {
        if (signal.aborted) break
        if (!isObjectId(name) && !name.startsWith(SESSION_PREFIX)) continue
        const path = join(folder, name)
        const { mtimeMs } = (await stat(path).catch(() => undefined)) ?? {}
        if (mtimeMs === undefined || mtimeMs >= moment) continue
        await rm(path, { recursive: true, force: true })
        deleted++
      }
      return deleted
    },
  }
}
