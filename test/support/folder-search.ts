import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The files below `folder` that hold one of these byte strings, by their paths; those that go meanwhile hold none. */
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
