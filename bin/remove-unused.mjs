// Removes from installed packages what Steno never loads: libraries for other platforms, the
// headers of Node, parts for video calls, and source maps. npm runs it at the end of an
// installation, in a checkout as for the package.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Optional packages of node-av for video calls, which are loaded by parts of it that we do not use. */
const VIDEO_CALLS = /^(?:werift|werift-.*|mediabunny)$/

/** Returns the folder of a package, beside this one or inside it. */
export function findPackage(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder))
}

/** Removes what is not needed below `modules`, a `node_modules` that serves this program alone. */
export function removeUnused(modules) {
  removeOtherPlatforms(join(modules, 'onnxruntime-node/bin/napi-v6'))
  removeHeaders(join(modules, 'node/node_modules'))
  for (const name of readdirSync(modules)) {
    if (VIDEO_CALLS.test(name)) rmSync(join(modules, name), { recursive: true })
  }
  for (const file of readdirSync(modules, { recursive: true })) {
    if (/\.[cm]?js\.map$/.test(file)) rmSync(join(modules, file))
  }
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
