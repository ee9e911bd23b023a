import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readConfig } from '../../../src/config/config.ts'
import {
  DeliveryService,
  type DeliveryServiceOptions,
} from '../../../src/delivery/delivery-service.ts'
import type { Clock } from '../../../src/delivery/system-clock.ts'
import { createLog } from '../../../src/observability/log.ts'
import { inTransaction } from '../../../src/storage/database/db.ts'
import {
  type Delivery as QueuedDelivery,
  toDelivery,
} from '../../../src/storage/deliveries/deliveries.ts'
import { findAttempts } from '../../../src/storage/deliveries/delivery-log.ts'
import { queueLiveCallbacks } from '../../../src/storage/deliveries/queue-deliveries.ts'
import type { Storage } from '../../../src/storage/storage.ts'
import { openTestStorage } from '../storage/test-storage.ts'
import { openReceiver, type Receiver, type Response } from './receiver.ts'
import { callbackTo } from './test-deliveries.ts'

/**
 * A clock that stands still until it is set. It starts at the current time, because signatures
 * carry a timestamp.
 */
export class TestClock implements Clock {
  #now = Date.now()
  readonly #sleepers = new Set<{ until: number; wake: () => void }>()

  now = (): number => this.#now

  sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const sleeper = { until: this.#now + ms, wake: resolve }
    this.#sleepers.add(sleeper)
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    this.#sleepers.delete(sleeper)
  }

  /** Sets the clock, forward or back; wakes everything that sleeps until then. */
  set(now: number): void {
    this.#now = now
    for (const { until, wake } of this.#sleepers) if (until <= now) wake()
  }

  advance(ms: number): void {
    this.set(this.#now + ms)
  }
}

/** What tests do with a delivery service of their own. */
export type TestDelivery = {
  storage: Storage
  clock: TestClock
  delivery: DeliveryService
  /** Opens another service over the same store, as after a restart. */
  reopen(): Promise<DeliveryService>
  /** Lets time pass until nothing is due any more, or `isDone`. */
  pass(isDone?: () => boolean): Promise<void>
  /** Returns all deliveries in the order of their jobs and positions, or those of one job. */
  deliveries(jobId?: string): Promise<QueuedDelivery[]>
  /** Returns the times of the attempts at a delivery, in seconds after the first. */
  momentsOf(id: string): Promise<number[]>
}

/** Options that the service is opened with, besides the defaults. */
export type TestDeliveryOptions = Partial<DeliveryServiceOptions> & {
  env?: Record<string, string>
  /** Seconds. */
  timeout?: number
  storage?: Storage
}

/**
 * Opens and starts the service over a store of its own; it may connect to this machine. Everything
 * is removed when the test ends.
 */
export async function openDelivery(
  t: TestContext,
  { env, timeout, ...options }: TestDeliveryOptions = {},
): Promise<TestDelivery> {
  const storage = options.storage ?? (await openTestStorage(t))
  const clock = new TestClock()
  const settings = { STENO_ALLOW_PRIVATE_NETWORK: 'true', STENO_DELIVERY_LOG_DAYS: '0', ...env }
  const config = readConfig(settings)
  if (timeout !== undefined) config.delivery.timeout = timeout
  const log = createLog('silent')

  async function open(): Promise<DeliveryService> {
    const usual = { config, storage, log, clock, random: () => 0.5, graceMs: 50 }
    const delivery = new DeliveryService({ ...usual, ...options, storage })
    // Before the store: hooks that are added later run later.
    t.after(() => delivery.close())
    await delivery.start()
    return delivery
  }

  const { sql } = storage.db
  const opened: TestDelivery = {
    storage,
    clock,
    delivery: await open(),
    async reopen() {
      opened.delivery = await open()
      return opened.delivery
    },
    async pass(isDone = () => false) {
      for (;;) {
        await opened.delivery.idle()
        if (isDone()) return
        const query = sql.selectFrom('deliveries').select((row) => row.fn.min('next_at').as('at'))
        const { at } = await query.where('state', '=', 'due').executeTakeFirstOrThrow()
        if (at === null) return
        clock.set(at)
      }
    },
    async deliveries(jobId) {
      const query = sql.selectFrom('deliveries').selectAll()
      const rows = await query.orderBy('job_id').orderBy('seq').execute()
      return rows.map(toDelivery).filter((one) => !jobId || one.jobId === jobId)
    },
    async momentsOf(id) {
      const attempts = (await findAttempts(storage.db, [id])).get(id) ?? []
      const from = attempts[0]?.at ?? 0
      return attempts.map(({ at }) => (at - from) / 1000)
    },
  }
  return opened
}

/** Opens a receiver that is closed when the test ends. */
export async function openTestReceiver(t: TestContext, response?: Response): Promise<Receiver> {
  const receiver = await openReceiver(response)
  t.after(() => receiver.close())
  return receiver
}

/**
 * Queues messages of a live session, numbered from `first`, for a callback. Returns the session's
 * id.
 */
export async function queueMessages(
  { storage, clock }: Pick<TestDelivery, 'storage' | 'clock'>,
  url: string,
  {
    count = 1,
    first = 0,
    jobId = randomUUID() as string,
    account = 'acme',
  }: { count?: number; first?: number; jobId?: string; account?: string } = {},
): Promise<string> {
  const job = { id: jobId, account, request_params: JSON.stringify(callbackTo(url)) }
  const messages = Array.from({ length: count }, (_, i) => {
    const seq = first + i
    const body = JSON.stringify({ id: jobId, event: 'live.transcript', payload: { seq } })
    return { seq, event: 'live.transcript', body, body_object: null, isDroppable: false }
  })
  const options = { at: clock.now(), maxQueued: 10_000 }
  await inTransaction(storage.db, (tx) => queueLiveCallbacks(tx, job, messages, options))
  return jobId
}

/** Waits until a condition holds or the test's time is up. */
export async function until(
  { signal }: TestContext,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await isSo())) {
    signal.throwIfAborted()
    await turn()
  }
}
