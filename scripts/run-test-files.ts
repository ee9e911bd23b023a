/**
 * `node run-test-files.ts FILE…` runs test files in this process; `run-tests.ts` starts it. The
 * flags of Node's own test command would reach every process that a test forks.
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href)
