import { test as runTest, type TestContext } from 'node:test'
import type { Storage } from '../../../src/storage/storage.ts'

/** What a test of storage gets: an empty one of its own. */
export type StorageTest = Storage & { t: TestContext }

/** Opens an empty storage, which is removed with the test. */
export type OpenTestStorage = (t: TestContext) => Promise<Storage>

/** Tests that every database passes. */
export type Suite = {
  test(name: string, run: (given: StorageTest) => Promise<void>): void
  /** Defines the tests for the database that `open` opens. */
  define(open: OpenTestStorage): void
}

/** Creates a suite without tests. */
export function createSuite(): Suite {
  const tests: Parameters<Suite['test']>[] = []
  return {
    test: (...given) => tests.push(given),
    define(open) {
      for (const [name, run] of tests) {
        runTest(name, async (t) => run({ ...(await open(t)), t }))
      }
    },
  }
}
