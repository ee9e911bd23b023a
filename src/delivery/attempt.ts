import { AppError } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import type { AttemptRecord, Delivery, Settlement } from '../storage/deliveries/deliveries.ts'
import { openDeliveryBody } from '../storage/deliveries/delivery-body.ts'
import type { Clock } from './clock.ts'
import { decideOutcome } from './decide-outcome.ts'
import type { RetryDelays } from './retry-delay.ts'
import type { Sender } from './sender.ts'

/** What attempts are made with. */
export type AttemptTools = {
  db: Db
  sender: Sender
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  /** Instead of the usual ones. */
  delays?: RetryDelays | undefined
}

/** What signs an attempt, and what cuts it off. */
export type AttemptUse = { secrets: readonly string[]; signal: AbortSignal }

/**
 * Makes one attempt at a delivery and decides what follows. Rejects when aborted before an answer, or when
 * the database refuses to say what to send.
 */
export async function attemptDelivery(
  tools: AttemptTools,
  delivery: Delivery,
  use: AttemptUse,
): Promise<Settlement> {
  const { clock, random, delays } = tools
  const attempt = await send(tools, delivery, use)
  const { id, jobId, endpointId } = delivery
  const verdict = decideOutcome(delivery, attempt, { now: clock.now(), random, delays })
  return { delivery: { id, jobId, endpointId }, attempt, ...verdict }
}

async function send(
  { db, sender, clock }: AttemptTools,
  delivery: Delivery,
  { secrets, signal }: AttemptUse,
): Promise<AttemptRecord> {
  const now = clock.now()
  try {
    const body = await openDeliveryBody(db, delivery)
    if (!body) throw new AppError('file_not_found')
    signal.throwIfAborted()
    return await sender.send({ delivery, body, secrets, signal })
  } catch (error) {
    // What is missing may be so for good: it takes its attempts, like a receiver that is down. Of a delivery
    // that was deleted meanwhile nothing is noted.
    if (signal.aborted || !isUnreadable(error)) throw error
    const nothing = { status: null, responseHeaders: null, responseBody: null, requestHeaders: {} }
    return { at: now, ms: 0, error: 'its body cannot be read from the store', ...nothing }
  }
}

function isUnreadable(error: unknown): boolean {
  const codes = ['file_not_found', 'storage_unreadable']
  return error instanceof AppError && codes.includes(error.code)
}
