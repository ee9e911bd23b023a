// npm runs this before the install scripts of the packages that an installed Steno needs. Two of
// them download what Steno does not use, libraries for CUDA and an ffmpeg program, and the first
// fails the installation without a network. A checkout denies these scripts in package.json, which
// holds for nobody who installs the package. Where npm runs no install scripts, none of this is
// needed.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url))
if (!isCheckout) {
  const runtime = findPackage('onnxruntime-node')
  const decoder = findPackage('node-av')
  skip(runtime, 'script/install.js')
  skip(decoder, 'dist/ffmpeg/install.js')
  removeOtherPlatforms(runtime)
}

/** Returns the folder of a package, beside this one or inside it. */
function findPackage(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(folder))
}

function skip(folder, script) {
  if (!folder || process.env.ONNXRUNTIME_NODE_INSTALL) return
  const file = join(folder, script)
  if (existsSync(file)) writeFileSync(file, '// Skipped by steno-server, which does not need it.\n')
}

/** Removes the libraries of other platforms, 245 MB. */
function removeOtherPlatforms(folder) {
  if (!folder) return
  const libraries = join(folder, 'bin/napi-v6')
  const own = join(libraries, process.platform, process.arch)
  if (!existsSync(own)) return
  for (const platform of readdirSync(libraries)) {
    for (const arch of readdirSync(join(libraries, platform))) {
      const other = join(libraries, platform, arch)
      if (other !== own) rmSync(other, { recursive: true })
    }
  }
}
