#!/usr/bin/env node
// Runs src/main.ts under the Node that the project pins, whatever Node started this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const main = new URL('../src/main.ts', import.meta.url)
const [major] = process.versions.node.split('.').map(Number)

// Compiled modules are kept from start to start, for the worker threads and processes as well.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL('../node_modules/.cache/compile', import.meta.url),
)

if (major >= 24) {
  module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
  process.removeAllListeners('warning') // node:sqlite announces itself as experimental at each start
  await import(main.href)
} else {
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (!existsSync(pinned)) {
    console.error(`Cannot run on Node ${process.versions.node}: run 'npm ci', it installs Node 24`)
    process.exit(1)
  }
  const options = ['--disable-warning=ExperimentalWarning', fileURLToPath(main)]
  // The channel tells the child when this process is killed: it then ends too.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc']
  const child = spawn(pinned, [...options, ...process.argv.slice(2)], { stdio })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}
