import { AppError } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import { type Metrics, outcomeOf } from '../../observability/metrics.ts'
import type { Lease } from '../../storage/jobs/queue/lease.ts'
import type { LiveJob } from '../../storage/live/live-jobs.ts'
import type { SessionStores } from '../../storage/live/session-stores.ts'
import type { Storage } from '../../storage/storage.ts'
import type { OpenCallbackFeed } from '../callbacks/callback-feeds.ts'
import { audioAfter } from '../journal/log-records.ts'
import { failJobKeepingAudio } from '../result/live-job-finisher.ts'

/** Options for `failSession`; `take` claims the job, unless it has ended. */
export type FailSessionOptions = {
  storage: Pick<Storage, 'db' | 'objects'>
  take(): Promise<Lease | undefined>
  openFeed: OpenCallbackFeed
  onEvents?: (() => void) | undefined
  log: Log
  metrics?: Metrics | undefined
}

/**
 * Fails a session that an earlier process of this server ran, because this process runs no live
 * sessions. The recorded audio is kept, and the callback gets all messages that were sent before.
 */
export async function failSession(
  { storage, take, openFeed, onEvents, log, metrics }: FailSessionOptions,
  { job, sessionStores }: { job: LiveJob; sessionStores: SessionStores },
): Promise<void> {
  const store = await sessionStores.openWithoutLease(job.id, { audioAfter })
  try {
    const lease = store && (await take())
    const feed = store && lease && (await openFeed({ job, lease, store }))
    await feed?.feed()
    const { message, status } = new AppError(
      'live_unavailable',
      'this server offers no live sessions',
    )
    const failure = { code: status, message }
    if (await failJobKeepingAudio(storage, { job, store, failure, only: lease })) {
      onEvents?.()
      log.warn(
        { sessionId: job.id, account: job.account, ...failure },
        'live session ended with an error',
      )
      metrics?.jobsEnded.inc({ kind: 'live', outcome: outcomeOf(failure) })
    }
  } finally {
    await store?.close()
  }
  await store?.delete()
}
