import { AppError } from '../../errors.ts'
import type { Db } from '../../storage/database/db.ts'
import type { AttemptRecord, AttemptResult, Delivery } from '../../storage/deliveries/deliveries.ts'
import { openDeliveryBody } from '../../storage/deliveries/delivery-body.ts'
import type { Sender } from '../http/sender.ts'
import type { Clock } from '../system-clock.ts'
import { decideRetry } from './decide-retry.ts'
import type { RetryDelays } from './retry-schedule.ts'

/** The dependencies of an attempt. */
export type DeliveryAttemptDeps = {
  db: Db
  sender: Sender
  clock: Clock
  /** A random number from 0 to 1. */
  random: () => number
  /** Replaces the default delays. */
  delays?: RetryDelays | undefined
}

/** The secrets that sign an attempt, and the signal that aborts it. */
export type DeliveryAttemptOptions = { secrets: readonly string[]; signal: AbortSignal }

/**
 * Makes one attempt at a delivery and decides its outcome. Rejects if aborted before a response, or
 * if the database fails while the body is read.
 */
export async function attemptDelivery(
  deps: DeliveryAttemptDeps,
  delivery: Delivery,
  options: DeliveryAttemptOptions,
): Promise<AttemptResult> {
  const { clock, random, delays } = deps
  const attempt = await send(deps, delivery, options)
  const { id, jobId, endpointId, leaseEpoch } = delivery
  const decision = decideRetry(delivery, attempt, { now: clock.now(), random, delays })
  return { delivery: { id, jobId, endpointId, leaseEpoch }, attempt, ...decision }
}

async function send(
  { db, sender, clock }: DeliveryAttemptDeps,
  delivery: Delivery,
  { secrets, signal }: DeliveryAttemptOptions,
): Promise<AttemptRecord> {
  const now = clock.now()
  try {
    const body = await openDeliveryBody(db, delivery)
    if (!body) throw new AppError('file_not_found')
    signal.throwIfAborted()
    return await sender.send({ delivery, body, secrets, signal })
  } catch (error) {
    // A missing body may be missing permanently: the delivery uses up its attempts, as if the
    // receiver were down. If the delivery was deleted meanwhile, nothing is recorded.
    if (signal.aborted || !isUnreadable(error)) throw error
    const noResponse = {
      status: null,
      responseHeaders: null,
      responseBody: null,
      requestHeaders: {},
    }
    return { at: now, ms: 0, error: 'its body cannot be read from storage', ...noResponse }
  }
}

function isUnreadable(error: unknown): boolean {
  const codes = ['file_not_found', 'storage_unreadable']
  return error instanceof AppError && codes.includes(error.code)
}
