import { describe } from 'node:test'
import { suites } from '../../../storage/suites/all-suites.ts'
import { noPostgres, openTestPostgres } from '../../../support/storage/databases/test-postgres.ts'

// Most of a test is waiting for the database.
describe('PostgreSQL', { concurrency: 4, skip: noPostgres }, () => {
  for (const suite of suites) suite.define(openTestPostgres)
})
