/**
 * `node run-test-files.ts FILE…` runs test files in this process; `run-tests.ts` starts it. The
 * flags of Node's own test command would reach every process that a test forks.
 * At SIGTERM, with which hung tests end, it names the tests that have not ended.
 */
import { readFileSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Follows every promise while tests are declared, so that each joins the suite of its file. Node's
 * runner goes on with that, which costs a seventh of the time where whole servers are tested. An
 * uncaught error then still fails the run, but names no test.
 */
const asyncHooks = process.getBuiltinModule('node:async_hooks')
const { createHook } = asyncHooks
let declaring: ReturnType<typeof createHook> | undefined
asyncHooks.createHook = (callbacks) => {
  declaring = createHook(callbacks)
  return declaring
}
const { after, afterEach, before, beforeEach, describe } = await import('node:test')

/** Keeps the process alive while a test waits for something without a handle. */
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
const files = process.argv.slice(2)
const imports = files.map((file) => {
  const { promise, resolve: imported } = Promise.withResolvers<void>()
  describe(file, async () => {
    if (process.env.STENO_TEST_TIMES) reportTimes(file)
    await import(pathToFileURL(resolve(file)).href).finally(imported)
  })
  return promise
})
asyncHooks.createHook = createHook
await Promise.all(imports)
declaring?.disable()
// In a fresh clone, the servers that these tests start need not compile again.
flushCompileCache()

/** Prints the seconds of processor time, and of any time, that the tests of a file take. */
function reportTimes(file: string): void {
  let cpu = 0
  let startedAt = 0
  before(() => {
    cpu = cpuSeconds()
    startedAt = performance.now()
  })
  after(() => {
    const seconds = (performance.now() - startedAt) / 1000
    console.log(`⏱ ${(cpuSeconds() - cpu).toFixed(2)} ${seconds.toFixed(2)} ${file}`)
  })
}

/** The processor time of this process and of those that it has started and that have ended. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childSeconds()
}

function childSeconds(): number {
  if (process.platform !== 'linux') return 0
  // The fields after the name in brackets, see proc(5); 100 ticks are a second.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
