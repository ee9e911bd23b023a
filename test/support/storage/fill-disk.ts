import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Takes every last byte of the disk; `free` gives them back. */
export async function fillDisk(folder: string): Promise<{ free(): Promise<void> }> {
  const path = join(folder, 'ballast')
  for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
    for (let full = false; !full; ) {
      full = await writeFile(path, Buffer.alloc(size), { flag: 'a' }).then(
        () => false,
        () => true,
      )
    }
  }
  return { free: () => rm(path) }
}
