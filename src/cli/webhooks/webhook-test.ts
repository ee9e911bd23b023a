import { randomUUID } from 'node:crypto'
import { type Config, readConfig } from '../../config.ts'
import { decideOutcome } from '../../delivery/decide-outcome.ts'
import { findSecrets } from '../../delivery/secrets.ts'
import { createSender } from '../../delivery/sender.ts'
import type { AttemptRecord } from '../../storage/deliveries/deliveries.ts'
import { insertTestDelivery } from '../../storage/deliveries/test-delivery.ts'
import { parseArguments, readSettings, UsageError } from '../arguments.ts'
import { openDatabase } from '../server/open-database.ts'
import { sanitize } from '../terminal/sanitize-terminal.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findWebhook } from './find-webhook.ts'

/**
 * Runs `steno webhooks test`: makes one attempt, now, even at a disabled webhook, whose state does
 * not change.
 */
export async function testWebhook(args: string[], terminal: Terminal): Promise<number> {
  const { positionals } = parseArguments(args, {})
  const [endpointId] = positionals
  if (endpointId === undefined || positionals.length > 1) throw new UsageError('test takes one ID')
  const config = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(config.storage, { create: false, terminal })
  const { account, url } = await findWebhook(db, endpointId)
  const secrets = await findSecrets(db, config.delivery, { account, endpointId, now: Date.now() })

  const [id, event] = [randomUUID(), 'webhook.test']
  const body = JSON.stringify({ event, payload: { id } })
  const { signal } = terminal
  const attempt = await sendOnce(config, { id, account, url, body, secrets, signal })
  const reason = reasonOf(attempt)
  await insertTestDelivery(db, { id, account, endpointId, event, url, body, attempt, reason })

  const outcome = reason === null ? `delivered: ${attempt.status}` : `failed: ${sanitize(reason)}`
  const signed = secrets.length > 0 ? 'signed' : 'not signed, as there is no secret'
  terminal.stdout.write(`${outcome}; ${attempt.ms} ms; ${signed}\n`)
  terminal.stderr.write(`In the log of deliveries: ${id}\n`)
  return reason === null ? 0 : 1
}

type Sending = {
  id: string
  account: string
  url: string
  body: string
  secrets: readonly string[]
  signal: AbortSignal
}

async function sendOnce(
  config: Config,
  { id, account, url, body, secrets, signal }: Sending,
): Promise<AttemptRecord> {
  const bytes = Buffer.from(body)
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  const sender = createSender({ config })
  try {
    const delivery = { id, account, method: 'POST', url } as const
    return await sender.send({
      ...{ delivery, secrets, signal },
      body: { bytes: bytes.length, pieces },
    })
  } finally {
    sender.close()
  }
}

/** Returns why the delivery failed, in the words of the log; null when it arrived. */
function reasonOf(attempt: AttemptRecord): string | null {
  const first = { kind: 'webhook', tries: 0 } as const
  const verdict = decideOutcome(first, attempt, { now: attempt.at, random: Math.random })
  return verdict.outcome === 'delivered' ? null : verdict.reason
}
