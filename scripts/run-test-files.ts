/**
 * `node run-test-files.ts FILE…` runs test files in this process; `run-tests.ts` starts it. The
 * flags of Node's own test command would reach every process that a test forks.
 */
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Keeps the process alive while a test waits for something that does not. */
const keepAlive = setInterval(() => {}, 60_000).unref()
let running = 0
beforeEach(() => {
  if (running++ === 0) keepAlive.ref()
})
afterEach(() => {
  if (--running === 0) keepAlive.unref()
})

// A suite for each file, so that hooks outside of all tests hold for their file only.
for (const file of process.argv.slice(2)) {
  describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href)
  })
}
