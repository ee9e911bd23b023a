#!/usr/bin/env node
// Runs the program under the Node that the project pins, whatever Node started this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module, { createRequire } from 'node:module'
import { constants, homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// A checkout holds TypeScript in src/, an npm package the same as JavaScript in lib/.
const source = new URL('../src/main.ts', import.meta.url)
const isCheckout = existsSync(source)
const main = isCheckout ? source : new URL('../lib/main.js', import.meta.url)
const [major] = process.versions.node.split('.').map(Number)

// Compiled modules are kept from start to start, for the worker threads and processes as well. The
// folder of a package may belong to another user.
process.env.NODE_COMPILE_CACHE ||= isCheckout
  ? fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url))
  : join(findCacheFolder(), 'steno/compile')

if (major >= 24) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  process.removeAllListeners('warning') // node:sqlite announces itself as experimental at each start
  await import(main.href)
} else {
  const pinned = findPinnedNode()
  if (!pinned) {
    const remedy = isCheckout
      ? "use Node 24, or run 'npm ci --ignore-scripts=false', which installs it"
      : 'install Node 24, or install Steno again with the install scripts of its package "node" allowed'
    console.error(`Cannot run on Node ${process.versions.node}: ${remedy}`)
    process.exit(1)
  }
  const options = ['--disable-warning=ExperimentalWarning', fileURLToPath(main)]
  // The channel tells the child when this process is killed: it then ends too.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(pinned, [...options, ...process.argv.slice(2)], { stdio })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function findCacheFolder() {
  try {
    return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  } catch {
    return tmpdir() // A user of a container may have no home.
  }
}

/** Returns the program of the package `node`, which npm may have put beside this package. */
function findPinnedNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'))
    const programs = ['bin/node.exe', 'bin/node'].map((name) => join(folder, name))
    return programs.find((name) => existsSync(name))
  } catch {
    return undefined
  }
}
