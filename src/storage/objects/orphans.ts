import { copyFile, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isObjectId, type Objects } from './objects.ts'

/**
 * Objects that no row refers to, in a folder beside the others. They are kept for a time because
 * the database may be a restored older one; they come back with the newer one.
 */
export type Orphans = {
  /** Moves an object here; its retention starts now. A missing object is not an error. */
  add(id: string): Promise<void>
  /** Moves it back, unless there is an object with this id again. */
  takeBack(id: string): Promise<void>
  /** Moves the folder of a live session here, likewise. */
  addSession(folder: string): Promise<void>
  /** Moves the folder of a live session back, unless it exists; does nothing if it is not here. */
  takeSessionBack(folder: string): Promise<void>
  /** Yields all object ids, `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
  /** Deletes what was moved here before a given time; resolves to how many. */
  deleteBefore(moment: number, options: { signal: AbortSignal }): Promise<number>
}

/** The number of ids that fit into one statement of any database. */
const LIST_SIZE = 500
/** Precedes the id of a session, whose folder lies among the files of objects. */
const SESSION_PREFIX = 'live-'

/** Stores orphans of `objects` as files in `folder`, which is created when needed. */
export function openOrphans(folder: string, objects: Objects): Orphans {
  async function* list(): AsyncGenerator<string[]> {
    const ids = (await readdir(folder).catch(() => [])).filter(isObjectId)
    for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
  }

  const sessionPath = (session: string) => join(folder, SESSION_PREFIX + basename(session))

  return {
    list,
    async add(id) {
      const path = objects.path(id)
      try {
        await utimes(path, new Date(), new Date())
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await move(path, join(folder, id))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    },
    async addSession(session) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await utimes(session, new Date(), new Date())
      await rename(session, sessionPath(session))
    },
    async takeSessionBack(session) {
      if (await stat(session).catch(() => undefined)) return
      await rename(sessionPath(session), session).catch((error) => {
        if (error.code !== 'ENOENT') throw error
      })
    },
    async takeBack(id) {
      if (await stat(objects.path(id)).catch(() => undefined)) return
      await objects.link(id, join(folder, id))
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

/** Objects may be on a separate disk. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFile(from, to)
    await rm(from)
  }
}
