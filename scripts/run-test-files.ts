/**
 * `node run-test-files.ts FILE…` runs test files in this process; `run-tests.ts` starts it. The
 * flags of Node's own test command would reach every process that a test forks.
 * At SIGTERM, with which hung tests end, it names the tests that have not ended.
 */
import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterEach, beforeEach, describe } from 'node:test'
import { pathToFileURL } from 'node:url'

/** Keeps the process alive while a test waits for something that does not. */
const keepAlive = setInterval(() => {}, 60_000).unref()
/** When each test began that has not ended, by its full name. */
const running = new Map<string, number>()
beforeEach((t) => {
  running.set(t.fullName, performance.now())
  keepAlive.ref()
})
afterEach((t) => {
  running.delete(t.fullName)
  if (running.size === 0) keepAlive.unref()
})

process.once('SIGTERM', () => {
  for (const [name, startedAt] of running) {
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    writeSync(process.stderr.fd, `✖ has run for ${seconds} s and not ended: ${name}\n`)
  }
  process.kill(process.pid, 'SIGTERM')
})

// A suite for each file, so that hooks outside of all tests hold for their file only.
for (const file of process.argv.slice(2)) {
  describe(file, async () => {
    await import(pathToFileURL(resolve(file)).href)
  })
}
