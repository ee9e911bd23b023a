import { auditTests } from './audit.ts'
import { deliveryTests } from './deliveries.ts'
import { deliveryOutboxTests } from './delivery-outbox.ts'
import { endpointListTests } from './endpoint-list.ts'
import { eventTests } from './events.ts'
import { jobCreationTests } from './job-creation.ts'
import { jobListTests } from './job-lists.ts'
import { jobTests } from './jobs.ts'
import { leaseTests } from './leases.ts'
import { liveCallbackTests } from './live-callbacks.ts'
import { liveJobTests } from './live-jobs.ts'
import { nodeTests } from './nodes.ts'
import { progressTests } from './progress.ts'
import { queueTests } from './queue.ts'
import { queueMaintenanceTests } from './queue-maintenance.ts'
import { resendingTests } from './resending.ts'
import { retentionTests } from './retention.ts'
import { searchTests } from './search.ts'
import { shareTests } from './shares.ts'
import { signInTests } from './sign-ins.ts'
import { transcriptEditTests } from './transcript-edits.ts'
import { usageTests } from './usage.ts'
import { zeroRetentionTests } from './zero-retention.ts'

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
