import { readConfig } from '../../config/config.ts'
import { generateSecret, rotateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { readLabel } from '../accounts/key-options.ts'
import { openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime, readDuration } from '../terminal/date-time.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findWebhook } from './find-webhook.ts'

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
    account,
    endpointId: id ?? null,
    secret,
    at,
    overlapMs,
    configured: configured.map((secret) => secret.secret),
  })
  const owner = id === undefined ? `the account ${account}` : id
  const earlier = describeEarlierSecrets({
    hadEarlier,
    end: overlapMs === 0 ? undefined : at + overlapMs,
  })
  terminal.stderr.write(`New signing secret for ${owner}. ${earlier}\nIt is shown only once:\n`)
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
      'No earlier secret was found here. If the server has one in STENO_WEBHOOK_SECRETS, it no longer signs deliveries; ' +
      'to keep it valid for the overlap, set that variable for this command, too.'
    )
  }
  if (end === undefined) return 'Earlier secrets no longer sign deliveries.'
  return `Earlier secrets remain valid until ${formatDateTime(end)}.`
}
