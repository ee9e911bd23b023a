// Removes from installed packages what Steno never loads: libraries for other platforms, the
// headers of Node, parts for video calls, source maps, tests and, outside a checkout, TypeScript.
// npm runs it at the end of an installation, in a checkout as for the package.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const isCheckout = existsSync(join(root, 'src/main.ts'))

/**
 * Optional packages of node-av for video calls, which are loaded by parts of it that we do not use.
 */
const VIDEO_CALLS = /^(?:werift|werift-.*|mediabunny)$/

/** The folder of a package's own tests, and what is in it. */
const TESTS = /^(?:.*[\\/]node_modules[\\/])?(?:@[^\\/]+[\\/])?[^\\/@.][^\\/]*[\\/]test(?:[\\/]|$)/

/** Returns the folder of a package, beside this one or inside it. */
export function findPackage(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder))
}

/**
 * Removes what is not needed below `modules`, a `node_modules` that serves this program alone.
 * `types` are kept where people develop; Node runs no TypeScript below `node_modules`.
 */
export function removeUnused(modules, { types = isCheckout } = {}) {
  removeOtherPlatforms(join(modules, 'onnxruntime-node/bin/napi-v6'))
  removeHeaders(join(modules, 'node/node_modules'))
  removeVideoCalls(modules)
  const unused = types ? /\.[cm]?js\.map$/ : /\.[cm]?js\.map$|\.[cm]?ts(?:\.map)?$/
  for (const file of readdirSync(modules, { recursive: true })) {
    if (TESTS.test(file)) rmSync(join(modules, file), { recursive: true, force: true })
    else if (unused.test(file)) rmSync(join(modules, file))
  }
}

/** Removes the packages for video calls, and those that only they need. */
function removeVideoCalls(modules) {
  const calls = readdirSync(modules).filter((name) => VIDEO_CALLS.test(name))
  const { dependencies, devDependencies, optionalDependencies } = readManifest(root)
  const own = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
  const needed = findNeeded(modules, own, (name) => !VIDEO_CALLS.test(name))
  for (const name of findNeeded(modules, calls)) {
    if (!needed.has(name)) rmSync(join(modules, name), { recursive: true })
  }
}

/** Returns the packages in `modules` that those with these names need, themselves included. */
function findNeeded(modules, names, filter = () => true) {
  const needed = new Set()
  const left = [...names]
  for (let name = left.pop(); name; name = left.pop()) {
    if (needed.has(name) || !filter(name) || !existsSync(join(modules, name))) continue
    needed.add(name)
    left.push(...listDependencies(join(modules, name)))
  }
  return needed
}

/** Returns what a package needs, and what the packages inside it need. */
function listDependencies(folder) {
  const inside = join(folder, 'node_modules')
  const nested = existsSync(inside) ? readdirSync(inside) : []
  const { dependencies, optionalDependencies, peerDependencies } = readManifest(folder)
  return [
    ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }),
    ...nested.flatMap((name) => listDependencies(join(inside, name))),
  ]
}

/** Returns the `package.json` of a folder; an empty one if there is none. */
function readManifest(folder) {
  const file = join(folder, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}

/** Removes the libraries of other platforms, 245 MB, from a folder of `PLATFORM/ARCHITECTURE`. */
function removeOtherPlatforms(libraries) {
  const own = join(libraries, process.platform, process.arch)
  if (!existsSync(own)) return
  for (const platform of readdirSync(libraries)) {
    for (const arch of readdirSync(join(libraries, platform))) {
      const other = join(libraries, platform, arch)
      if (other !== own) rmSync(other, { recursive: true })
    }
  }
}

/** Removes the headers of the program that the package `node` installs, 67 MB. */
function removeHeaders(programs) {
  for (const name of existsSync(programs) ? readdirSync(programs) : []) {
    if (!name.startsWith('node-')) continue
    rmSync(join(programs, name, 'include'), { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // In the project of somebody else, other packages may need these files.
  const runtime = findPackage('onnxruntime-node')
  const isOwn = runtime?.startsWith(root.endsWith(sep) ? root : root + sep)
  try {
    if (isOwn) removeUnused(join(runtime, '..'))
    else if (runtime) removeOtherPlatforms(join(runtime, 'bin/napi-v6'))
  } catch (error) {
    console.warn(`Some files that are not needed were not removed: ${error.message}`)
  }
}
