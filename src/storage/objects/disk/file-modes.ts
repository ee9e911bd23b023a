import { access, chmod, constants, opendir, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** The folders that Steno creates in its data folder. */
const OWN_FOLDERS = ['objects', 'orphans', 'live', 'live-copies', 'work', 'cache', 'decrypted']
/** The root of a separate file system also contains this. */
const NOBODYS = 'lost+found'
const OWN_FILES = /^(steno\.sqlite|server\.lock)(-wal|-shm|-journal|\.clock)?$/

/** Read, write and execute permissions for everyone but the owner. */
const OTHERS = 0o077
const STICKY = 0o1000

/**
 * Returns what others on this machine may open: the data folder and the server's direct entries in
 * it, as far as this user owns them. Below a closed folder nothing is accessible, whatever its own
 * mode, so nothing deeper is checked, however many recordings there are. A folder that also holds
 * other things, such as a home folder, is its owner's choice; then each of our entries counts by
 * itself.
 */
export async function findAccessibleFiles(folder: string): Promise<string[]> {
  const { mode } = await stat(folder).catch(() => ({ mode: 0 }))
  return (mode & OTHERS) === 0 ? [] : findLoose(folder)
}

/**
 * Closes the data folder and its direct entries to others; resolves to what they could open.
 * Anything that another user owns is left alone.
 */
export async function restrictAccess(folder: string): Promise<string[]> {
  const open = await findAccessibleFiles(folder)
  for (const path of await findLoose(folder)) await closeToOthers(path)
  return open
}

/**
 * Returns the paths with permissions for others, whether or not the folders above are accessible.
 */
async function findLoose(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const ownNames = names.filter((name) => OWN_FOLDERS.includes(name) || OWN_FILES.test(name))
  const isShared = names.some((name) => name !== NOBODYS && !ownNames.includes(name))
  const paths = [...(isShared ? [] : [folder]), ...ownNames.map((name) => join(folder, name))]
  const loosePaths = await Promise.all(
    paths.map(async (path) => ((await isLoose(path)) ? [path] : [])),
  )
  return loosePaths.flat()
}

/**
 * Closes every file below the folders among `paths`. A start that found them open runs this in the
 * background: there may be millions.
 */
export async function restrictFilesBelow(
  paths: readonly string[],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  for (const path of paths.filter((one) => OWN_FOLDERS.includes(basename(one)))) {
    for await (const entry of await opendir(path, { recursive: true })) {
      if (signal.aborted) return
      const inner = join(entry.parentPath, entry.name)
      if (!entry.isSymbolicLink() && (await isLoose(inner))) await closeToOthers(inner)
    }
  }
}

/**
 * Returns what this process may not read and write in the data folder, such as what another user
 * left there: the server's direct entries, and the folders of the recordings. Files in those are
 * not checked: there may be millions.
 */
export async function findUnusable(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const recordings = await readdir(join(folder, 'objects')).catch(() => [])
  const folders = [
    ...names.filter((name) => OWN_FOLDERS.includes(name)),
    ...recordings.map((name) => join('objects', name)),
  ]
  const files = names.filter((name) => OWN_FILES.test(name))
  const usable = await Promise.all([
    ...folders.map((path) => isUsable(join(folder, path), constants.X_OK)),
    ...files.map((path) => isUsable(join(folder, path))),
  ])
  return [...folders, ...files].filter((_, i) => !usable[i])
}

async function isUsable(path: string, mode = 0): Promise<boolean> {
  const { code } = await access(path, constants.R_OK | constants.W_OK | mode).then(
    () => ({ code: undefined }),
    (error: NodeJS.ErrnoException) => error,
  )
  // Files of a running server come and go.
  return code === undefined || code === 'ENOENT'
}

async function isLoose(path: string): Promise<boolean> {
  const fileStat = await stat(path).catch(() => undefined)
  if (!fileStat || fileStat.uid !== process.getuid?.()) return false
  return (fileStat.mode & OTHERS) !== 0 && (fileStat.mode & STICKY) === 0
}

/**
 * A path that is gone meanwhile, or cannot be changed, is no reason not to start; `doctor` reports
 * it.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  await chmod(path, mode & 0o700).catch(() => {})
}
