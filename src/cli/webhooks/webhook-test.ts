import { readConfig } from '../../config/config.ts'
import { sendTestEvent } from '../../delivery/send-test-event.ts'
import { addAddressRemedy } from '../client/address-remedy.ts'
import { createClient } from '../client/client.ts'
import { readServer, serverOptions } from '../client/server-url.ts'
import type { Server } from '../client/transport.ts'
import { openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { sanitize } from '../terminal/sanitize.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findWebhook } from './find-webhook.ts'

/**
 * Runs `steno webhooks test`: makes one attempt at once, even at a disabled webhook, whose state
 * does not change. If a server is named, it makes the attempt; otherwise this process does, with
 * its own settings.
 */
export async function testWebhook(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, serverOptions)
  const [endpointId] = positionals
  if (endpointId === undefined || positionals.length > 1) throw new UsageError('test takes one ID')
  const server = readServer(values, terminal)
  return server.isNamed
    ? testByServer(endpointId, { server, terminal })
    : testLocally(endpointId, terminal)
}

async function testByServer(
  endpointId: string,
  { server, terminal }: { server: Server; terminal: Terminal },
): Promise<number> {
  const client = createClient(server, terminal.signal)
  const { delivery_id: id, status, reason } = await client.testWebhook(endpointId)
  return report(terminal, { id, status, reason, details: [] })
}

async function testLocally(endpointId: string, terminal: Terminal): Promise<number> {
  const config = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(config.storage, { create: false, terminal })
  const webhook = await findWebhook(db, endpointId)
  const { signal } = terminal
  const { id, reason, attempt, isSigned } = await sendTestEvent({ db, config }, webhook, { signal })
  const signed = isSigned ? 'signed' : 'not signed, as there is no secret'
  const details = [`${attempt.ms} ms`, signed]
  return report(terminal, { id, status: attempt.status ?? null, reason, details })
}

type TestReport = { id: string; status: number | null; reason: string | null; details: string[] }

function report(terminal: Terminal, { id, status, reason, details }: TestReport): number {
  const outcome =
    reason === null ? `delivered: ${status}` : `failed: ${sanitize(addAddressRemedy(reason))}`
  terminal.stdout.write(`${[outcome, ...details].join('; ')}\n`)
  terminal.stderr.write(`In the log of deliveries: ${id}\n`)
  return reason === null ? 0 : 1
}
