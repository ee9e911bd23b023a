import { auditTests } from './audit.ts'
import { deliveryTests } from './deliveries/deliveries.ts'
import { endpointListTests } from './deliveries/endpoint-list.ts'
import { deliveryOutboxTests } from './deliveries/queue-deliveries.ts'
import { resendingTests } from './deliveries/resending.ts'
import { eventTests } from './jobs/events.ts'
import { jobCreationTests } from './jobs/job-creation.ts'
import { jobListTests } from './jobs/job-lists.ts'
import { jobTests } from './jobs/jobs.ts'
import { progressTests } from './jobs/progress.ts'
import { queueTests } from './jobs/queue.ts'
import { queueMaintenanceTests } from './jobs/queue-maintenance.ts'
import { retentionTests } from './jobs/retention.ts'
import { shareTests } from './jobs/shares.ts'
import { transcriptEditTests } from './jobs/transcript-edits.ts'
import { zeroRetentionTests } from './jobs/zero-retention.ts'
import { leaseTests } from './leases.ts'
import { liveCallbackTests } from './live-callbacks.ts'
import { liveJobTests } from './live-jobs.ts'
import { nodeTests } from './nodes.ts'
import { searchTests } from './search.ts'
import { signInTests } from './sign-ins.ts'
import { usageTests } from './usage.ts'

/** The tests that every database passes. */
export const suites = [
  auditTests,
  deliveryTests,
  deliveryOutboxTests,
  endpointListTests,
  eventTests,
  jobCreationTests,
  jobListTests,
  jobTests,
  leaseTests,
  liveCallbackTests,
  liveJobTests,
  nodeTests,
  progressTests,
  queueMaintenanceTests,
  queueTests,
  resendingTests,
  retentionTests,
  searchTests,
  shareTests,
  signInTests,
  transcriptEditTests,
  usageTests,
  zeroRetentionTests,
]
