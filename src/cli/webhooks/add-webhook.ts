import { readConfig } from '../../config/config.ts'
import { createWebhook } from '../../storage/deliveries/endpoints/create-webhook.ts'
import { commandActor } from '../accounts/command-actor.ts'
import { FIRST_ACCOUNT } from '../accounts/first-key.ts'
import { readLabel } from '../accounts/key-options.ts'
import { databaseName, openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { parseEventNames, readWebhookUrl } from './webhook-options.ts'

/** Runs `steno webhooks add`. */
export async function addWebhook(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    account: { type: 'string', default: FIRST_ACCOUNT },
    events: { type: 'string' },
    name: { type: 'string' },
  })
  const [address] = positionals
  if (address === undefined || positionals.length > 1) throw new UsageError('add takes one URL')
  const url = readWebhookUrl(address)
  const account = readLabel(values.account, { name: 'account' })
  const name = values.name === undefined ? null : readLabel(values.name, { name: 'name' })
  const events = parseEventNames(values.events)

  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: true, terminal })
  const webhook = { account, url, events, name, source: 'cli', createdAt: Date.now() } as const
  const { id, secret } = await createWebhook(db, webhook, commandActor())
  if (secret === undefined) {
    throw new Error(`Cannot add the webhook: the account already has one with this URL, ${id}`)
  }
  const eventsText = events?.join(', ') ?? 'all events'
  terminal.stderr.write(
    `Created webhook ${id} for the account ${account}, in ${databaseName(storage)}. It receives ${eventsText}.\n` +
      'Its signing secret is shown only once:\n',
  )
  terminal.stdout.write(`${secret}\n`)
  return 0
}
