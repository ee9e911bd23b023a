import { access, chmod, constants, opendir, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** The folders that Steno creates in its data folder. */
const OWN_FOLDERS = ['objects', 'orphans', 'live', 'live-copies', 'work', 'cache', 'decrypted']
/** A folder that the root of a separate file system also contains, and that is not Steno's. */
const LOST_AND_FOUND = 'lost+found'
const OWN_FILES = /^(steno\.sqlite|server\.lock)(-wal|-shm|-journal|\.clock)?$/

/** Read, write and execute permissions for everyone but the owner. */
const ACCESS_OF_OTHERS = 0o077
const STICKY = 0o1000

/**
 * Returns the paths that other users of this machine may open: the data folder and Steno's direct
 * entries in it, if this user owns them. Nothing in a folder that others cannot open is accessible,
 * whatever its own mode, so deeper paths are not checked. A folder that also contains other things,
 * such as a home folder, is left to its owner; then each of Steno's entries is checked.
 */
export async function findAccessibleFiles(folder: string): Promise<string[]> {
  const { mode } = await stat(folder).catch(() => ({ mode: 0 }))
  return (mode & ACCESS_OF_OTHERS) === 0 ? [] : findOpenPaths(folder)
}

/**
 * Closes the data folder and its direct entries to other users; returns the paths that were open.
 * Entries of other users are not changed.
 */
export async function restrictAccess(folder: string): Promise<string[]> {
  const open = await findAccessibleFiles(folder)
  for (const path of await findOpenPaths(folder)) await closeToOthers(path)
  return open
}

/** Returns the paths whose mode allows access to others, whether or not their parent folders do. */
async function findOpenPaths(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  const ownNames = names.filter((name) => OWN_FOLDERS.includes(name) || OWN_FILES.test(name))
  const isShared = names.some((name) => name !== LOST_AND_FOUND && !ownNames.includes(name))
  const paths = [...(isShared ? [] : [folder]), ...ownNames.map((name) => join(folder, name))]
  const openPaths = await Promise.all(
    paths.map(async (path) => ((await isOpenToOthers(path)) ? [path] : [])),
  )
  return openPaths.flat()
}

/**
 * Closes every file in the folders among `paths`. After a start that found them open, this runs in
 * the background, because there may be millions.
 */
export async function restrictFilesBelow(
  paths: readonly string[],
  { signal }: { signal: AbortSignal },
): Promise<void> {
  for (const path of paths.filter((one) => OWN_FOLDERS.includes(basename(one)))) {
    for await (const entry of await opendir(path, { recursive: true })) {
      if (signal.aborted) return
      const inner = join(entry.parentPath, entry.name)
      if (!entry.isSymbolicLink() && (await isOpenToOthers(inner))) await closeToOthers(inner)
    }
  }
}

/**
 * Returns the paths in the data folder that this process cannot read and write, such as those of
 * another user: Steno's direct entries, and the folders of the recordings. The files in these are
 * not checked, because there may be millions.
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
  // A running server creates and deletes files meanwhile.
  return code === undefined || code === 'ENOENT'
}

async function isOpenToOthers(path: string): Promise<boolean> {
  const fileStat = await stat(path).catch(() => undefined)
  if (!fileStat || fileStat.uid !== process.getuid?.()) return false
  return (fileStat.mode & ACCESS_OF_OTHERS) !== 0 && (fileStat.mode & STICKY) === 0
}

/**
 * Removes the access of others to a path. Ignores a path that no longer exists, or that cannot be
 * changed; `doctor` reports the latter.
 */
async function closeToOthers(path: string): Promise<void> {
  const { mode } = await stat(path).catch(() => ({ mode: 0 }))
  await chmod(path, mode & 0o700).catch(() => {})
}
