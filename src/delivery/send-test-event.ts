import { randomUUID } from 'node:crypto'
import { wallNow } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../storage/database/db.ts'
import type { AttemptRecord } from '../storage/deliveries/deliveries.ts'
import type { Endpoint } from '../storage/deliveries/endpoints/endpoints.ts'
import { insertTestDelivery } from '../storage/deliveries/test-delivery.ts'
import { decideRetry } from './attempts/decide-retry.ts'
import { findSigningSecrets } from './http/find-signing-secrets.ts'
import { createSender } from './http/sender.ts'

/** The outcome of a test event. */
export type TestOutcome = {
  /** The id of its delivery in the log. */
  id: string
  /** Why it did not arrive, as in the log; null when it did. */
  reason: string | null
  attempt: AttemptRecord
  isSigned: boolean
}

type Webhook = Pick<Endpoint, 'id' | 'account' | 'url'>

/**
 * Sends an event to a webhook and logs the delivery: makes one attempt at once, even at a disabled
 * webhook, whose state does not change.
 */
export async function sendTestEvent(
  { db, config }: { db: Pick<Db, 'sql'>; config: Config },
  { id: endpointId, account, url }: Webhook,
  { signal }: { signal: AbortSignal },
): Promise<TestOutcome> {
  const secrets = await findSigningSecrets(db, config.delivery, {
    account,
    endpointId,
    now: wallNow(),
  })
  const [id, event] = [randomUUID(), 'webhook.test']
  const body = JSON.stringify({ event, payload: { id } })
  const attempt = await sendOnce(config, { id, account, url, body, secrets, signal })
  const reason = attemptReasonOf(attempt)
  await insertTestDelivery(db, { id, account, endpointId, event, url, body, attempt, reason })
  return { id, reason, attempt, isSigned: secrets.length > 0 }
}

type TestEventOptions = {
  id: string
  account: string
  url: string
  body: string
  secrets: readonly string[]
  signal: AbortSignal
}

async function sendOnce(
  config: Config,
  { id, account, url, body, secrets, signal }: TestEventOptions,
): Promise<AttemptRecord> {
  const bytes = Buffer.from(body)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  const sender = createSender({ config })
  try {
    const delivery = { id, account, method: 'POST', url } as const
    return await sender.send({
      delivery,
      secrets,
      signal,
      body: { bytes: bytes.length, chunks },
    })
  } finally {
    sender.close()
  }
}

/** Returns why the delivery failed, as in the log; null when it arrived. */
function attemptReasonOf(attempt: AttemptRecord): string | null {
  const first = { kind: 'webhook', attemptsSinceQueued: 0 } as const
  const result = decideRetry(first, attempt, { now: attempt.at, random: Math.random })
  return result.outcome === 'delivered' ? null : result.reason
}
