import { readConfig } from '../../config.ts'
import { sendTestEvent } from '../../delivery/send-test-event.ts'
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
  const webhook = await findWebhook(db, endpointId)
  const { signal } = terminal
  const { id, reason, attempt, isSigned } = await sendTestEvent({ db, config }, webhook, { signal })

  const outcome = reason === null ? `delivered: ${attempt.status}` : `failed: ${sanitize(reason)}`
  const signed = isSigned ? 'signed' : 'not signed, as there is no secret'
  terminal.stdout.write(`${outcome}; ${attempt.ms} ms; ${signed}\n`)
  terminal.stderr.write(`In the log of deliveries: ${id}\n`)
  return reason === null ? 0 : 1
}
