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

/** Limit of one write, and what stops it. */
export type WriteOptions = {
  maxBytes: number
  signal: AbortSignal
  /** Asked before so many bytes are written; the write fails as it does. */
  admit?: ((bytes: number) => Promise<void>) | undefined
}

/** Large values by id: recordings and long results. An object is there whole or not at all. */
export type Objects = {
  /** Stores the stream under `id`, in place of what was there; fails with `media_too_large` beyond `maxBytes`. */
  write(
    id: string,
    source: AsyncIterable<Uint8Array>,
    options: WriteOptions,
  ): Promise<{ size: number }>
  /**
   * Stores a file, whose bytes are on the disk, under `id` too, in place of what was there. It must not
   * change any more: where the file system has links it is not copied.
   */
  link(id: string, file: string): Promise<void>
  path(id: string): string
  /** Fails with `file_not_found` or `storage_unreadable` unless the object can be opened. */
  check(id: string): Promise<void>
  /**
   * Opens an object, which then stays readable though it be deleted. Both ends of `range` are inclusive,
   * as in the HTTP header. Whoever opens reads `body` to its end or destroys it.
   */
  open(
    id: string,
    range?: { start: number; end: number },
  ): Promise<{ size: number; body: Readable }>
  /** Deletes what is there; an object that is not there is no error. */
  delete(id: string): Promise<void>
  /** Every stored id, `LIST_SIZE` at a time. */
  list(): AsyncGenerator<string[]>
}

/** So many ids fit into one statement of any database. */
const LIST_SIZE = 500

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Tells the name of an object from other names in its folder. */
export function isObjectId(name: string): boolean {
  return UUID.test(name)
}

/**
 * Keeps objects as files below `folder`, spread over folders named by the first two digits of the
 * id. What an unfinished write of an earlier process left behind is removed first.
 */
export async function openObjects(folder: string): Promise<Objects> {
  const unfinished = join(folder, 'unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })

  function path(id: string): string {
    // Ids become paths, so nothing but an id may pass.
    if (!isObjectId(id)) throw new AppError('file_not_found', 'the id is not a UUID')
    return join(folder, id.slice(0, 2), id)
  }

  /** Puts what `make` leaves under a temporary name in the place of the object. */
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
      // Of two links to one file, rename takes none away.
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

/** The ids of all objects below `folder`, which need not be there, `LIST_SIZE` at a time. */
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

/** A client that sends nothing more must not hold an aborted write; a generator heeds its own signal. */
function destroy(source: AsyncIterable<Uint8Array>): void {
  if (source instanceof Readable) source.destroy()
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done)).bytesWritten
  }
}

/** Links, where the file system and its limits let it. */
async function linkOrCopy(file: string, copy: string): Promise<void> {
  try {
    await link(file, copy)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    await copyFile(file, copy)
    await syncFile(copy)
  }
}

/** A new folder is only safe once the folder above it is on the disk too. */
async function makeFolder(path: string): Promise<void> {
  if (await mkdir(path, { recursive: true })) await syncFolder(dirname(path))
}

function ignoreMissing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw storageError(error)
}
