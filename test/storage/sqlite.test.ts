import { describe } from 'node:test'
import { openTestStorage } from '../support/storage/test-storage.ts'
import { suites } from './suites/all-suites.ts'

// Most of a test is waiting for the disk.
describe('SQLite', { concurrency: 4 }, () => {
  for (const suite of suites) suite.define(openTestStorage)
})
