import { describe } from 'node:test'
import { noPostgres, openTestPostgres } from '../support/storage/databases/test-postgres.ts'
import { jobCreationTests } from './suites/jobs/job-creation.ts'
import { queueTests } from './suites/jobs/queue.ts'
import { zeroRetentionTests } from './suites/jobs/zero-retention.ts'
import { leaseTests } from './suites/leases.ts'
import { liveJobTests } from './suites/live-jobs.ts'
import { nodeTests } from './suites/nodes.ts'
import { searchTests } from './suites/search.ts'
import { usageTests } from './suites/usage.ts'

// What depends most on the database; `test/long/storage/postgres/postgres.test.ts` runs all suites.
describe('PostgreSQL', { concurrency: 4, skip: noPostgres }, () => {
  const live = [liveJobTests, nodeTests]
  const counted = [usageTests, zeroRetentionTests]
  const suites = [jobCreationTests, leaseTests, ...live, queueTests, searchTests, ...counted]
  for (const suite of suites) suite.define(openTestPostgres)
})
