import { chmod, opendir, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** What Steno makes in its data folder. */
const OWN_FOLDERS = ['objects', 'orphans', 'live', 'work']
/** A file system that is a disk of its own holds this besides. */
const NOBODYS = 'lost+found'
const OWN_FILES = /^(steno\.sqlite|server\.lock)(-wal|-shm|-journal|\.clock)?$/

/** Reading, writing and entering, for all but the owner. */
const OTHERS = 0o077
const STICKY = 0o1000

/**
 * What others of this machine may open: the data folder and what the server keeps directly in it, as far
 * as this user owns it. Below a closed folder nothing is open, whatever its own mode, so nothing deeper
 * is looked at, however many recordings there are. A folder that holds other things too counts as its
 * owner's, such as a home folder; then each thing of ours counts by itself.
 */
export async function findOpenFiles(folder: string): Promise<string[]> {
  const { mode } = await stat(folder).catch(() => ({ mode: 0 }))
  return (mode & OTHERS) === 0 ? [] : findLoose(folder)
}

/**
 * Closes the data folder and what is directly in it to others; resolves to what they could open. What
 * another user owns is left alone.
 */
export async function closeToOthers(folder: string): Promise<string[]> {
  const open = await findOpenFiles(folder)
  for (const path of await findLoose(folder)) await close(path)
  return open
}

/** What has a mode for others, whether or not they come that far. */
async function findLoose(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const own = names.filter((name) => OWN_FOLDERS.includes(name) || OWN_FILES.test(name))
  const isShared = names.some((name) => name !== NOBODYS && !own.includes(name))
  const paths = [...(isShared ? [] : [folder]), ...own.map((name) => join(folder, name))]
  const found = await Promise.all(paths.map(async (path) => ((await isLoose(path)) ? [path] : [])))
  return found.flat()
}

/**
 * Closes every file below the folders among `paths`, which a start that found them open does behind it:
 * there may be millions.
 */
export async function closeFilesBelow(
  paths: readonly string[],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  for (const path of paths.filter((one) => OWN_FOLDERS.includes(basename(one)))) {
    for await (const entry of await opendir(path, { recursive: true })) {
      if (signal.aborted) return
      const inner = join(entry.parentPath, entry.name)
      if (!entry.isSymbolicLink() && (await isLoose(inner))) await close(inner)
    }
  }
}

async function isLoose(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found || found.uid !== process.getuid?.()) return false
  return (found.mode & OTHERS) !== 0 && (found.mode & STICKY) === 0
}

/** What is gone meanwhile, or cannot be changed, is no reason not to start; `doctor` names it. */
async function close(path: string): Promise<void> {
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  await chmod(path, mode & 0o700).catch(() => {})
}
