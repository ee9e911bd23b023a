import type { Config } from '../../config/config.ts'
import type { Log } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { lastLiveCallback } from '../../storage/deliveries/queue-deliveries.ts'
import { createCallbackQueue } from '../../storage/live/live-callbacks.ts'
import type { Storage } from '../../storage/storage.ts'
import { formatOf } from '../input/session-format.ts'
import { routingOf } from '../messages/server-messages.ts'
import type { LiveParams } from '../request/live-params.ts'
import type { LeasedSession } from '../result/live-job-finisher.ts'
import { CallbackFeed } from './callback-feed.ts'

/** Options that all feeds share. */
export type CallbackFeedsOptions = {
  config: Pick<Config, 'delivery'>
  storage: Pick<Storage, 'db'>
  log: Log
  metrics?: Pick<Metrics, 'liveCallbacksDropped'> | undefined
  onEvents?: (() => void) | undefined
}

/** Opens the feed of a session; undefined when its job has no callback. */
export type OpenCallbackFeed = (session: LeasedSession) => Promise<CallbackFeed | undefined>

/** Creates the function that opens feeds. */
export function createCallbackFeedOpener(options: CallbackFeedsOptions): OpenCallbackFeed {
  const { config, storage, log, metrics, onEvents } = options
  const { db } = storage
  const maxQueued = config.delivery.maxQueuedLive
  const queue = createCallbackQueue(db, { maxQueued })
  return async ({ job, lease, store }) => {
    const params = job.params as LiveParams
    if (!params.callback) return undefined
    let hasDropped = false

    function onDropped(messages: number): void {
      metrics?.liveCallbacksDropped.inc(messages)
      if (hasDropped) return
      hasDropped = true
      log.warn(
        { sessionId: job.id, maxQueued },
        'too many live callbacks are waiting, dropping some',
      )
    }

    return new CallbackFeed({
      sessionId: job.id,
      format: formatOf(params),
      routing: routingOf(params),
      store,
      db,
      // Read under the lease: no other node queues messages any more.
      lastQueued: await lastLiveCallback(db, { jobId: job.id }),
      queue: (messages) => queue(lease, messages),
      onQueued: () => onEvents?.(),
      onDropped,
      log,
    })
  }
}
