// Removes from installed packages what Steno never loads: libraries for other platforms, the
// headers of Node, source maps, tests and, outside a checkout, TypeScript.
// npm runs it at the end of an installation, in a checkout as for the package.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const isCheckout = existsSync(join(root, 'src/main.ts'))

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
  const unused = types ? /\.[cm]?js\.map$/ : /\.[cm]?js\.map$|\.[cm]?ts(?:\.map)?$/
  for (const file of readdirSync(modules, { recursive: true })) {
    if (TESTS.test(file)) rmSync(join(modules, file), { recursive: true, force: true })
    else if (unused.test(file)) rmSync(join(modules, file))
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
