import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the paths of the files below `folder` that contain one of these byte strings. Files that
 * disappear during the search contain none.
 */
export async function filesHolding(folder: string, needles: readonly Buffer[]): Promise<string[]> {
  const found: string[] = []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const bytes = await readFile(path).catch(() => Buffer.alloc(0))
    if (needles.some((needle) => bytes.includes(needle))) found.push(path)
  }
  return found
}
