import { copyFile, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a whole file so that a crash leaves either all of it or nothing under its name. */
export async function writeDurably(
  path: string,
  content: string | AsyncIterable<Uint8Array>,
): Promise<void> {
  const temporary = `${path}.part`
  try {
    const handle = await open(temporary, 'w')
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}

/**
 * Makes `copy` a file with the same bytes: a link if the file system and its limits allow it.
 */
export async function linkOrCopy(file: string, copy: string): Promise<void> {
  try {
    await link(file, copy)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    await copyFile(file, copy)
    await syncFile(copy)
  }
}

/** Waits until the bytes of a file are on disk. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Waits until the names in a folder are on disk. Windows does this by itself and cannot open a
 * folder.
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
