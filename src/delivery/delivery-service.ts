import type { Config } from '../config/config.ts'
import type { Resolve } from '../net/dns/resolver.ts'
import type { Log } from '../observability/log.ts'
import { OutageLog } from '../observability/outage-log.ts'
import type { Tracing } from '../observability/tracing.ts'
import {
  type Delivery,
  failSomeDeliveries,
  findDueEndpoints,
} from '../storage/deliveries/deliveries.ts'
import {
  findNextDueDelivery,
  leaseDueDeliveries,
  renewDeliveries,
} from '../storage/deliveries/delivery-leases.ts'
import { syncConfiguredWebhooks } from '../storage/deliveries/endpoints/configured-webhooks.ts'
import { type Endpoint, findEndpoint } from '../storage/deliveries/endpoints/endpoints.ts'
import { disabledReason } from '../storage/deliveries/queue-deliveries.ts'
import type { Storage } from '../storage/storage.ts'
import { AttemptRunner, type DeliveryMetrics } from './attempts/attempt-runner.ts'
import type { RetryDelays } from './attempts/retry-schedule.ts'
import { DuePoller, MAX_PAUSE_MS } from './due-poller.ts'
import { type EndpointQueue, EndpointQueues } from './endpoint-queues.ts'
import { findSigningSecrets } from './http/find-signing-secrets.ts'
import { createSender, type Sender } from './http/sender.ts'
import { trimDeliveryLog } from './log-retention.ts'
import { type Clock, systemClock } from './system-clock.ts'

/** The dependencies of deliveries. */
export type DeliveryServiceOptions = {
  config: Pick<Config, 'delivery' | 'network'>
  storage: Pick<Storage, 'db'> & Partial<Pick<Storage, 'deletionClock'>>
  log: Log
  metrics?: DeliveryMetrics | undefined
  tracing?: Tracing | undefined
  /** Milliseconds that requests in flight may continue after the server begins to stop. */
  graceMs?: number | undefined
  /** Called when a delivery has ended, and awaited. */
  onEnded?: ((jobId: string) => Promise<void>) | undefined
  /** The clock; replaced in tests. */
  clock?: Clock | undefined
  random?: () => number
  delays?: RetryDelays | undefined
  resolve?: Resolve
}

/** Pause after the database refused a statement. */
const ERROR_PAUSE_MS = 1000
const GRACE_MS = 2000
/** The duration of a lease: without a renewal, another sender may take the delivery after it. */
const LEASE_MS = 60_000
/** Two renewals may fail before a lease ends. */
const RENEW_INTERVAL_MS = LEASE_MS / 3

/**
 * Delivers events to receivers, from the outbox rows that the transaction of each event wrote: at
 * least once, in order within a job, and without one receiver waiting for another. Polls the
 * database when woken, when something becomes due, and at least once a minute.
 */
export class DeliveryService {
  readonly #options: DeliveryServiceOptions
  readonly #log: Log
  readonly #clock: Clock
  readonly #sender: Sender
  readonly #attemptRunner: AttemptRunner
  readonly #poller: DuePoller
  readonly #outages: OutageLog
  readonly #queues = new EndpointQueues()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** Jobs that were deleted since the last query for due deliveries. */
  readonly #deletedJobs = new Set<string>()
  #renewals: NodeJS.Timeout | undefined
  #polling: Promise<void> = Promise.resolve()
  #loop: Promise<unknown> = Promise.resolve()
  #woken = Promise.withResolvers<void>()
  #changed = Promise.withResolvers<void>()

  constructor(options: DeliveryServiceOptions) {
    const { config, storage, log, metrics, tracing, delays } = options
    const { clock = systemClock, random = Math.random } = options
    this.#options = options
    this.#clock = clock
    this.#log = log.child({ module: 'delivery' })
    this.#outages = new OutageLog(this.#log, {
      level: 'error',
      failed: 'cannot look up due deliveries',
      recovered: 'looking up due deliveries again',
    })
    this.#sender = createSender({ config, now: clock.now, resolve: options.resolve })
    const onReady = () => this.#woken.resolve()
    this.#poller = new DuePoller({ db: storage.db, clock, onReady })
    this.#attemptRunner = new AttemptRunner({
      db: storage.db,
      sender: this.#sender,
      settings: config.delivery,
      log: this.#log,
      closing: this.#closing.signal,
      clock,
      random,
      delays,
      metrics,
      tracing,
    })
  }

  /** Writes the configured webhooks to the database, then starts to send due deliveries. */
  async start(): Promise<void> {
    const { config, storage } = this.#options
    const { db } = storage
    const { webhooks, logDays } = config.delivery
    await syncConfiguredWebhooks(db, webhooks, { at: this.#clock.now() })
    const { signal } = this.#closing
    const mayDelete = () => storage.deletionClock?.mayDelete() ?? true
    const maintenance = { db, log: this.#log, clock: this.#clock, logDays, mayDelete, signal }
    this.#loop = Promise.all([this.#run(), trimDeliveryLog(maintenance)])
    this.#renewals = setInterval(() => void this.#renew(), RENEW_INTERVAL_MS).unref()
  }

  /** Polls at once, because something may have been queued. */
  wake(): void {
    if (this.#poller.requestPoll()) this.#woken.resolve()
  }

  /** Aborts the requests in flight for a deleted job. */
  abortJob(jobId: string): void {
    this.#deletedJobs.add(jobId)
    for (const request of this.#queues.requests()) {
      if (request.jobId === jobId) request.abort.abort(new Error('the job was deleted'))
    }
  }

  /** Resolves when nothing is due or in flight. */
  async idle(): Promise<void> {
    const { db } = this.#options.storage
    while (!this.#closing.signal.aborted) {
      const changed = this.#changed.promise
      this.wake()
      const queued = await findDueEndpoints(db, { until: Number.MAX_SAFE_INTEGER })
      // A result that was written during the query may have made the next delivery of its sequence
      // due.
      const now = this.#clock.now()
      if (this.#running.size === 0 && !queued.some(({ nextAt }) => nextAt <= now)) return
      await changed
    }
  }

  /**
   * Starts no more attempts. Requests in flight may get their response within the grace time; then
   * they are aborted, and their deliveries are due at the next start.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#woken.resolve()
    this.#notify()
    await this.#loop
    await this.#polling
    this.#poller.close()
    const graceTimer = setTimeout(() => {
      for (const { abort } of this.#queues.requests()) abort.abort(new Error('the server stops'))
    }, this.#options.graceMs ?? GRACE_MS)
    await Promise.all(this.#running)
    clearTimeout(graceTimer)
    clearInterval(this.#renewals)
    this.#sender.close()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      // Replaced before polling, so that deliveries queued meanwhile wake the loop again.
      this.#woken = Promise.withResolvers()
      const pauseMs = await this.#pass().catch((error) => {
        this.#log.error({ err: error }, 'cannot read a delivery')
        return ERROR_PAUSE_MS
      })
      this.#notify()
      const pause = new AbortController()
      await Promise.race([this.#woken.promise, this.#clock.sleep(pauseMs, pause.signal)])
      pause.abort()
    }
  }

  async #renew(): Promise<void> {
    const ids = this.#queues.ids()
    await renewDeliveries(this.#options.storage.db, ids, { leaseMs: LEASE_MS }).catch((err) => {
      this.#log.warn({ err }, 'cannot renew the leases of deliveries')
    })
  }

  /** Sends the due deliveries; returns the milliseconds until the next pass. */
  async #pass(): Promise<number> {
    this.#poll()
    for (const queue of this.#queues.ready(this.#clock.now())) {
      if (this.#closing.signal.aborted) break
      await this.#sendDue(queue)
    }
    const pauseMs = this.#queues.nextAt() - this.#clock.now()
    return Math.min(MAX_PAUSE_MS, Math.max(0, pauseMs))
  }

  /** Polls for due endpoints in the background: this query may wait behind other, long ones. */
  #poll(): void {
    const polling = this.#poller.poll().then(
      (endpoints) => {
        this.#outages.succeeded()
        for (const endpoint of endpoints) this.#queues.schedule(endpoint)
        if (endpoints.length > 0) this.#woken.resolve()
      },
      (error) => this.#outages.failed(error),
    )
    this.#polling = this.#polling.then(() => polling)
  }

  /**
   * Leases and sends the due deliveries of an endpoint, up to its free capacity, and records when
   * the next ones are due.
   */
  async #sendDue(queue: EndpointQueue): Promise<void> {
    const { config, storage } = this.#options
    const { db } = storage
    const { account, endpointId } = queue
    const now = this.#clock.now()
    // Events during the queries below set it again.
    queue.nextAt = Number.POSITIVE_INFINITY
    this.#deletedJobs.clear()
    try {
      const endpoint = await findEndpoint(db, { id: endpointId })
      if (!endpoint || endpoint.disabledAt !== null)
        return await this.#failRemaining(queue, endpoint)
      const limit = this.#queues.freeSlots(queue)
      const inFlight = [...queue.inFlight.keys()]
      const deliveries = await leaseDueDeliveries(db, {
        endpointId,
        now,
        limit,
        inFlight,
        leaseMs: LEASE_MS,
      })
      const secrets =
        deliveries.length > 0
          ? await findSigningSecrets(db, config.delivery, { account, endpointId, now })
          : []
      for (const delivery of deliveries) this.#begin(queue, delivery, secrets)
      const mayBeMore = deliveries.length === limit
      const inFlightNow = [...queue.inFlight.keys()]
      const nextAt = mayBeMore
        ? now
        : await findNextDueDelivery(db, { endpointId, inFlight: inFlightNow })
      this.#queues.schedule({ ...queue, nextAt: nextAt ?? Number.POSITIVE_INFINITY })
      this.#queues.drop(queue)
    } catch (error) {
      this.#queues.schedule({ ...queue, nextAt: now + ERROR_PAUSE_MS })
      throw error
    }
  }

  /**
   * Fails a batch of the remaining deliveries of a disabled or removed endpoint, then lets other
   * endpoints have their turn.
   */
  async #failRemaining(queue: EndpointQueue, endpoint: Endpoint | undefined): Promise<void> {
    const { db } = this.#options.storage
    const reason = endpoint ? disabledReason(endpoint.disabledReason) : 'the endpoint was removed'
    const at = this.#clock.now()
    if (await failSomeDeliveries(db, queue.endpointId, { reason, at })) {
      this.#queues.schedule({ ...queue, nextAt: at })
      this.#woken.resolve()
    }
    this.#queues.drop(queue)
  }

  #begin(queue: EndpointQueue, delivery: Delivery, secrets: readonly string[]): void {
    const { id, jobId } = delivery
    if (jobId !== null && this.#deletedJobs.has(jobId)) return
    const abort = new AbortController()
    this.#queues.begin(queue, id, { jobId, abort })
    const { signal } = abort
    const running = this.#attemptRunner.run(delivery, { secrets, signal }).then(async (report) => {
      const { isSuccess, nextAt } = report
      if (jobId !== null && isSuccess !== undefined) await this.#options.onEnded?.(jobId)
      this.#queues.schedule({ ...queue, nextAt })
      this.#queues.end(queue, id, { isSuccess })
      this.#running.delete(running)
      this.#poller.endpointServed()
      this.#woken.resolve()
      this.#notify()
    })
    this.#running.add(running)
  }

  #notify(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
