import { readFile, stat } from 'node:fs/promises'

/** How long a file is not checked again for changes. */
const LOOK_AGAIN_MS = 5000

/**
 * Returns a function that reads and parses a system file, again only after it has changed: a list
 * of blocked hosts takes long to parse. A file that is missing or cannot be read counts as empty.
 */
export function watchFile<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let lookedAt = Number.NEGATIVE_INFINITY
  let version: string | undefined
  let parsed: Promise<T> | undefined

  async function look(before: Promise<T> | undefined): Promise<T> {
    const fileStat = await stat(path).catch(() => undefined)
    const fileVersion = fileStat ? `${fileStat.mtimeMs} ${fileStat.size} ${fileStat.ino}` : 'none'
    if (before && fileVersion === version) return before
    version = fileVersion
    return parse(fileStat ? await readFile(path, 'utf8').catch(() => '') : '')
  }

  return () => {
    const now = performance.now()
    if (parsed && now - lookedAt < LOOK_AGAIN_MS) return parsed
    lookedAt = now
    parsed = look(parsed)
    return parsed
  }
}
