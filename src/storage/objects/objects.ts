import { randomUUID } from 'node:crypto'
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { storageError, throwStorageError } from '../sqlite/storage-error.ts'
import { syncFile, syncFolder } from './durable-file.ts'

/** The limit of one write, and what stops it. */
export type WriteOptions = {
  maxBytes: number
  signal: AbortSignal
  /** Called before this many bytes are written; if it fails, so does the write. */
  admit?: ((bytes: number) => Promise<void>) | undefined
}

/** Large values by id: recordings and long results. An object exists as a whole or not at all. */
export type Objects = {
  /**
   * Stores the stream under `id`, replacing any previous object; fails with `media_too_large`
   * beyond `maxBytes`.
   */
  write(
    id: string,
    source: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<{ size: number }>
  /**
   * Stores a file, whose bytes are on disk, under `id` too, replacing any previous object. The file
   * must not change any more: it is linked, not copied, where the file system supports links.
   */
  link(id: string, file: string): Promise<void>
  path(id: string): string
  /** Fails with `file_not_found` or `storage_unreadable` unless the object can be opened. */
  check(id: string): Promise<void>
  /**
   * Opens an object, which then stays readable even if it is deleted. Both ends of `range` are
   * inclusive, as in the HTTP header. The caller must read `body` to its end or destroy it.
   */
  open(
    id: string,
    range?: { start: number; end: number },
  ): Promise<{ size: number; body: Readable }>
  /** Deletes an object; a missing one is not an error. */
  delete(id: string): Promise<void>
  /** Yields every stored id, `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
}

/** The number of ids that fit into one statement of any database. */
const LIST_SIZE = 500

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns whether a name in the folder is that of an object. */
export function isObjectId(name: string): boolean {
  return UUID.test(name)
}

/**
 * Stores objects as files below `folder`, spread over folders named by the first two digits of the
 * id. First removes what unfinished writes of an earlier process left behind.
 */
export async function openObjects(folder: string): Promise<Objects> {
  const unfinished = join(folder, 'unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })

  function path(id: string): string {
    // Ids become paths, so only a valid id may pass.
    if (!isObjectId(id)) throw new AppError('file_not_found', 'the id is not a UUID')
    return join(folder, id.slice(0, 2), id)
  }

  /** Moves what `make` writes under a temporary name to the place of the object. */
  async function place<T>(id: string, make: (temporary: string) => Promise<T>): Promise<T> {
    const target = path(id)
    const temporary = join(unfinished, randomUUID())
    try {
      const made = await make(temporary)
      await makeFolder(dirname(target))
      await rename(temporary, target)
      await syncFolder(dirname(target))
      return made
    } catch (error) {
      throw storageError(error)
    } finally {
      // If both names link to the same file, rename removes neither.
      await rm(temporary, { force: true })
    }
  }

  return {
    path,
    async write(id, source, options) {
      const size = await place(id, (temporary) => writeFile(temporary, source, options))
      return { size }
    },
    link: (id, file) => place(id, (temporary) => linkOrCopy(file, temporary)),
    async check(id) {
      const handle = await open(path(id)).catch(throwStorageError)
      await handle.close()
    },
    async open(id, range) {
      const handle = await open(path(id)).catch(throwStorageError)
      try {
        const { size } = await handle.stat()
        return { size, body: handle.createReadStream(range) }
      } catch (error) {
        await handle.close()
        throw storageError(error)
      }
    },
    async delete(id) {
      const file = path(id)
      try {
        await unlink(file)
        await syncFolder(dirname(file))
      } catch (error) {
        ignoreMissing(error)
      }
    },
    list: () => listObjects(folder),
  }
}

/** Yields the ids of all objects below `folder`, which may be missing, `LIST_SIZE` at a time. */
export async function* listObjects(folder: string): AsyncGenerator<string[]> {
  const names = await readdir(folder).catch(ignoreMissing)
  for (const name of names ?? []) {
    if (name.length !== 2) continue
    const ids = (await readdir(join(folder, name))).filter(isObjectId)
    for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
  }
}

async function writeFile(
  path: string,
  source: AsyncIterable<Uint8Array>,
  { maxBytes, signal, admit }: WriteOptions,
): Promise<number> {
  const handle = await open(path, 'wx')
  const stop = () => destroy(source)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    let size = 0
    for await (const bytes of source) {
      signal.throwIfAborted()
      size += bytes.byteLength
      if (size > maxBytes) throw new AppError('media_too_large', `more than ${maxBytes} bytes`)
      await admit?.(bytes.byteLength)
      await writeAll(handle, bytes)
    }
    signal.throwIfAborted()
    await handle.sync()
    return size
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', stop)
    await handle.close()
  }
}

/**
 * A client that stops sending must not hold up an aborted write; a generator observes its own
 * signal.
 */
function destroy(source: AsyncIterable<Uint8Array>): void {
  if (source instanceof Readable) source.destroy()
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done)).bytesWritten
  }
}

/** Links if the file system and its limits allow it; copies otherwise. */
async function linkOrCopy(file: string, copy: string): Promise<void> {
  try {
    await link(file, copy)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    await copyFile(file, copy)
    await syncFile(copy)
  }
}

/** A new folder is only durable once the folder above it is on disk too. */
async function makeFolder(path: string): Promise<void> {
  if (await mkdir(path, { recursive: true })) await syncFolder(dirname(path))
}

function ignoreMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw storageError(error)
}
