import { existsSync, lstatSync } from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'

/**
 * The folder in which a decoder that sees no files of the server stores the content of a short
 * recording.
 */
export const INPUT_FOLDER = '/input'
/** The size of that folder, which is that of the largest file that is read as a short one. */
export const INPUT_BYTES = 8 * 1024 * 1024

/** The files that a decoder may see, besides the programs and libraries of the system. */
export type VisibleFiles = {
  /** The recording; undefined when its content is sent to the decoder. */
  input: string | undefined
  /** The folder for its output; undefined if it has none. */
  folder: string | undefined
}

/**
 * The new root is built here: nothing needs the files that it hides, while `mount` needs `/proc`.
 */
const ROOT = '/sys'
/** Folders of the system; on many systems, most of them are links into `/usr`. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64']

/**
 * Returns a shell script that builds a root with the given files and nothing else, enters it, drops
 * all privileges, and runs the program in its arguments, which can never regain them: a changed
 * root also forbids user namespaces. The shell is the first process of its namespace, which the
 * kernel shields from signals, so the program is a child of it. Each program that the script itself
 * starts costs a millisecond.
 */
export function isolatingScript({ input, folder }: VisibleFiles): string {
  const { folders, links } = findSystem()
  const program = findProgram()
  const visibleFolders = [...folders, ...program.folders]
  const files = [...program.files, ...(input === undefined ? [] : [input])]
  const writable = folder === undefined ? [] : [folder]
  const createdFolders = [
    ...visibleFolders,
    ...files.map((file) => dirname(file)),
    ...writable,
    INPUT_FOLDER,
  ]
  const steps = [
    `mount -t tmpfs -o size=${INPUT_BYTES * 2},mode=755 tmpfs ${ROOT}`,
    `mkdir -p ${createdFolders.map(inRoot).join(' ')}`,
    ...(links.length > 0 ? [`cp -P ${links.map(quote).join(' ')} ${ROOT}/`] : []),
    ...visibleFolders.map((path) => bind(path, 'ro')),
    ...files.map(bindFile),
    ...writable.map((path) => bind(path, 'rw')),
  ]
  return `{ ${steps.join(' &&\n')}
} || exit 125
chroot ${ROOT} setpriv --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
exit $?`
}

function quote(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}

function inRoot(path: string): string {
  return quote(ROOT + path)
}

function bind(path: string, mode: 'ro' | 'rw'): string {
  return `mount -o bind,${mode} ${quote(path)} ${inRoot(path)}`
}

/**
 * Binds a file if it exists; the decoder reports a missing one. The file may be in a folder that is
 * already bound.
 */
function bindFile(path: string): string {
  const target = `{ [ -e ${inRoot(path)} ] || : >${inRoot(path)}; }`
  const bindCommand = `elif [ -e ${quote(path)} ]; then ${target} && ${bind(path, 'ro')}`
  return `if [ -d ${quote(path)} ]; then mkdir -p ${inRoot(path)}; ${bindCommand}; fi`
}

function findSystem(): { folders: string[]; links: string[] } {
  const systemPaths = SYSTEM.filter((path) => existsSync(path))
  const isLink = (path: string) => lstatSync(path).isSymbolicLink()
  return { folders: systemPaths.filter((path) => !isLink(path)), links: systemPaths.filter(isLink) }
}

/**
 * Returns Node, our modules, the modules that they import, and the cache of compiled modules, but
 * no other files beside them, such as data.
 */
function findProgram(): { folders: string[]; files: string[] } {
  // `src` in a checkout, `lib` in a package.
  const code = join(import.meta.dirname, '../../..')
  const folders = [code]
  for (let folder = dirname(code); folder !== dirname(folder); folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    if (existsSync(modules)) folders.push(modules)
  }
  const cache = process.env.NODE_COMPILE_CACHE
  if (cache && isAbsolute(cache) && existsSync(cache)) folders.push(cache)
  const isCovered = (path: string) => {
    return [...folders, ...SYSTEM].some((folder) => path.startsWith(`${folder}${sep}`))
  }
  return {
    folders: folders.filter((folder) => !isCovered(folder)),
    files: [process.execPath, join(dirname(code), 'package.json')].filter(
      (file) => !isCovered(file),
    ),
  }
}
