import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../../errors.ts'
import { storageError, throwStorageError } from '../../data-folder/storage-error.ts'
import { limitSize } from '../limit-size.ts'
import { isObjectId, LIST_SIZE, type ObjectStore, type WriteOptions } from '../object-store.ts'
import { linkOrCopy, syncFolder } from './durable-file.ts'
import { isMissingFile } from './missing-file.ts'

/**
 * Stores objects as files in `folder`, in subfolders named by the first two digits of the id.
 * `nodeId` is the id of this process.
 */
export async function openDiskObjects(
  folder: string,
  { nodeId = randomUUID() as string }: { nodeId?: string } = {},
): Promise<ObjectStore> {
  const unfinished = join(folder, 'unfinished')
  await mkdir(unfinished, { recursive: true })

  const path = (id: string) => objectPath(folder, id)
  const check = async (id: string) => statReadable(path(id))
  async function place<T>(id: string, make: (temporary: string) => Promise<T>): Promise<T> {
    const temporary = join(unfinished, `${nodeId}.${randomUUID()}`)
    return moveIntoPlace({ temporary, target: path(id) }, make)
  }

  return {
    async write(id, source, options) {
      const size = await place(id, (temporary) => writeFile(temporary, source, options))
      return { size }
    },
    async replace(id, source, { signal }) {
      await check(id)
      const limits = { signal, maxBytes: Number.POSITIVE_INFINITY }
      await place(id, (temporary) => writeFile(temporary, source, limits))
    },
    adopt: (id, file) => place(id, (temporary) => linkOrCopy(file, temporary)),
    check,
    async openLocalCopy(id) {
      await check(id)
      return { path: path(id), [Symbol.asyncDispose]: async () => {} }
    },
    read: async (id, range) => readFile(path(id), range),
    delete: async (id) => removeFile(path(id)),
    async removeUnfinished({ ids: nodeIds }) {
      for (const name of await readdir(unfinished)) {
        const isWritten = nodeIds.some((active) => name.startsWith(`${active}.`))
        if (!isWritten) await rm(join(unfinished, name), { recursive: true, force: true })
      }
    },
    list: () => listDiskObjects(folder),
  }
}

/** Returns the path of an object in `folder`; throws `file_not_found` if `id` is not a UUID. */
export function objectPath(folder: string, id: string): string {
  // Ids become paths, so only valid ones are allowed.
  if (!isObjectId(id)) throw new AppError('file_not_found', 'the id is not a UUID')
  return join(folder, id.slice(0, 2), id)
}

/**
 * Yields the ids of all objects in `folder`, which may be missing, at most `LIST_SIZE` at a time.
 */
export async function* listDiskObjects(folder: string): AsyncGenerator<string[]> {
  const names = await readdir(folder).catch(ignoreMissingObject)
  for (const name of names ?? []) {
    if (name.length !== 2) continue
    const ids = (await readdir(join(folder, name))).filter(isObjectId)
    for (let i = 0; i < ids.length; i += LIST_SIZE) yield ids.slice(i, i + LIST_SIZE)
  }
}

/** Moves the file that `make` writes under a temporary name to the path of the object. */
async function moveIntoPlace<T>(
  { temporary, target }: { temporary: string; target: string },
  make: (temporary: string) => Promise<T>,
): Promise<T> {
  try {
    const made = await make(temporary)
    await makeDurableFolder(dirname(target))
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

async function statReadable(path: string): Promise<{ size: number; storedAt: number }> {
  const handle = await open(path).catch(throwStorageError)
  try {
    const { size, mtimeMs } = await handle.stat()
    return { size, storedAt: mtimeMs }
  } finally {
    await handle.close()
  }
}

async function readFile(path: string, range: { start: number; end: number } | undefined) {
  const handle = await open(path).catch(throwStorageError)
  try {
    const { size } = await handle.stat()
    return { size, body: handle.createReadStream(range) }
  } catch (error) {
    await handle.close()
    throw storageError(error)
  }
}

async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path)
    await syncFolder(dirname(path))
  } catch (error) {
    ignoreMissingObject(error)
  }
}

async function writeFile(
  path: string,
  source: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<number> {
  const handle = await open(path, 'wx')
  try {
    let size = 0
    for await (const bytes of limitSize(source, options)) {
      await writeAll(handle, bytes)
      size += bytes.byteLength
    }
    await handle.sync()
    return size
  } finally {
    await handle.close()
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await handle.write(bytes, done)).bytesWritten
  }
}

/** A new folder is durable only when its parent folder is synced, too. */
async function makeDurableFolder(path: string): Promise<void> {
  if (await mkdir(path, { recursive: true })) await syncFolder(dirname(path))
}

function ignoreMissingObject(error: unknown): undefined {
  if (!isMissingFile(error)) throw storageError(error)
}
