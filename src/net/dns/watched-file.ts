import { readFile, stat } from 'node:fs/promises'

/** The shortest time between two checks of a file for changes. */
const CHECK_INTERVAL_MS = 5000

/**
 * Returns a function that returns the parsed content of a system file. It parses the file again
 * only after a change, because a long list of blocked hosts takes long to parse. A file that is
 * missing or cannot be read counts as empty.
 */
export function watchFile<T>(path: string, parse: (text: string) => T): () => Promise<T> {
  let checkedAt = Number.NEGATIVE_INFINITY
  let version: string | undefined
  let parsed: Promise<T> | undefined

  async function reparse(before: Promise<T> | undefined): Promise<T> {
    const fileStat = await stat(path).catch(() => undefined)
    const fileVersion = fileStat ? `${fileStat.mtimeMs} ${fileStat.size} ${fileStat.ino}` : 'none'
    if (before && fileVersion === version) return before
    version = fileVersion
    return parse(fileStat ? await readFile(path, 'utf8').catch(() => '') : '')
  }

  return () => {
    const now = performance.now()
    if (parsed && now - checkedAt < CHECK_INTERVAL_MS) return parsed
    checkedAt = now
    parsed = reparse(parsed)
    return parsed
  }
}
