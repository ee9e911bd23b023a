import { readConfig } from '../../config/config.ts'
import { createWebhook } from '../../storage/deliveries/endpoints/create-webhook.ts'
import { generateSecret, rotateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { commandActor } from '../accounts/command-actor.ts'
import { FIRST_ACCOUNT } from '../accounts/first-key.ts'
import { readLabel } from '../accounts/key-options.ts'
import { databaseName, openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime, readDuration } from '../terminal/date-time.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findWebhook } from './find-webhook.ts'
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
    throw new Error(`Cannot add the webhook: ${id} has this address already, for the same account`)
  }
  const eventsText = events?.join(', ') ?? 'all events'
  terminal.stderr.write(
    `Webhook ${id} of the account ${account}, receives ${eventsText}, in ${databaseName(storage)}.\n` +
      'Its signing secret is shown only this once:\n',
  )
  terminal.stdout.write(`${secret}\n`)
  return 0
}

/** Runs `steno webhooks rotate`. */
export async function rotateSecrets(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    account: { type: 'string' },
    overlap: { type: 'string' },
  })
  const [id] = positionals
  if (positionals.length > 1 || (id === undefined) === (values.account === undefined)) {
    throw new UsageError('rotate takes one ID, or --account for the secret of an account')
  }
  const overlapMs = readDuration(values.overlap, { name: 'overlap', fallback: '24h' })
  const namedAccount =
    values.account === undefined ? undefined : readLabel(values.account, { name: 'account' })

  const { storage, delivery } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: id === undefined, terminal })
  const account = namedAccount ?? (await findWebhook(db, id!)).account
  const configured = delivery.secrets.filter((secret) => secret.account === account)
  const secret = generateSecret()
  const at = Date.now()
  const hadEarlier = await rotateSecret(db, {
    ...{ account, endpointId: id ?? null, secret, at, overlapMs },
    configured: configured.map((secret) => secret.secret),
  })
  const owner = id === undefined ? `the account ${account}` : id
  const earlier = describeEarlierSecrets({
    hadEarlier,
    end: overlapMs === 0 ? undefined : at + overlapMs,
  })
  terminal.stderr.write(`New signing secret of ${owner}. ${earlier}\nIt is shown only this once:\n`)
  terminal.stdout.write(`${secret}\n`)
  return 0
}

/**
 * Describes the earlier secrets. A configured secret is known only if the variable is set here,
 * which is often the case only in the server.
 */
function describeEarlierSecrets({
  hadEarlier,
  end,
}: {
  hadEarlier: boolean
  end: number | undefined
}) {
  if (!hadEarlier) {
    return (
      'No earlier one was known here: if the server has one in STENO_WEBHOOK_SECRETS, that secret no longer signs. ' +
      'Set the variable for this command, too, and an earlier one signs beside the new one.'
    )
  }
  if (end === undefined) return 'Earlier secrets no longer sign.'
  return `Earlier ones sign beside it until ${formatDateTime(end)}.`
}
