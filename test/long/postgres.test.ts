import { describe } from 'node:test'
import { noPostgres, openTestPostgres } from '../support/test-postgres.ts'
import { suites } from '../storage/suites.ts'

// Most of a test is waiting for the database.
describe('PostgreSQL', { concurrency: 4, skip: noPostgres }, () => {
  for (const suite of suites) suite.define(openTestPostgres)
})
