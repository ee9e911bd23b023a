import { open, stat } from 'node:fs/promises'

/**
 * Waits until a file, or the names in a folder, are on disk; Windows writes names by itself and
 * cannot open folders.
 */
export async function syncPath(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory()
  if (isFolder && process.platform === 'win32') return
  const handle = await open(path, isFolder ? 'r' : 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
