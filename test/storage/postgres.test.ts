import { describe } from 'node:test'
import { noPostgres, openTestPostgres } from '../support/storage/test-postgres.ts'
import { jobCreationTests } from './job-creation.ts'
import { leaseTests } from './leases.ts'
import { liveJobTests } from './live-jobs.ts'
import { nodeTests } from './nodes.ts'
import { queueTests } from './queue.ts'
import { searchTests } from './search.ts'
import { usageTests } from './usage.ts'
import { zeroRetentionTests } from './zero-retention.ts'

// What depends most on the database; `test/long/storage/postgres.test.ts` runs all suites.
describe('PostgreSQL', { concurrency: 4, skip: noPostgres }, () => {
  const live = [liveJobTests, nodeTests]
  const counted = [usageTests, zeroRetentionTests]
  const suites = [jobCreationTests, leaseTests, ...live, queueTests, searchTests, ...counted]
  for (const suite of suites) suite.define(openTestPostgres)
})
