import { readConfig } from '../../config/config.ts'
import { maskCredentials } from '../../delivery/masking/mask-credentials.ts'
import { type Endpoint, listEndpoints } from '../../storage/deliveries/endpoints/endpoints.ts'
import { FIRST_ACCOUNT } from '../accounts/first-key.ts'
import { openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime } from '../terminal/date-time.ts'
import { runSubcommand, type Subcommands } from '../terminal/subcommands.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { addWebhook } from './add-webhook.ts'
import { rotateSecrets } from './rotate-secrets.ts'
import { disableWebhooks, enableWebhooks, removeWebhooks } from './webhook-states.ts'
import { testWebhook } from './webhook-test.ts'

const help = `Usage: steno webhooks [list] [--account NAME] [--all]
       steno webhooks add URL [--account NAME] [--events LIST] [--name TEXT]
       steno webhooks rotate ID [--overlap TIME]
       steno webhooks rotate --account NAME [--overlap TIME]
       steno webhooks test ID [--server URL] [--key KEY]
       steno webhooks enable ID...
       steno webhooks disable ID...
       steno webhooks remove ID...

Manages the webhooks of an account in the data folder of this machine, STENO_DATA_DIR, whether or not a
server is running on it. Changes apply to all later events.

  --account NAME   the account of the webhook; default ${FIRST_ACCOUNT}. With list: only this account
  --events LIST    the events that the webhook receives, default all:
                   transcription.created, transcription.success, transcription.error,
                   live.start_session, live.start_recording, live.end_recording, live.end_session
  --name TEXT      a description, shown in the list
  --all            also lists the receivers of callbacks, by origin, if the delivery log has deliveries to
                   them or they fail or are disabled
  --overlap TIME   how long the previous secret keeps signing beside the new one, such as 30m, 24h
                   or 7d; default 24h. Use 0h if the secret has leaked

'add' and 'rotate' print a signing secret on stdout, only once. 'rotate --account' creates or replaces the
secret of the account, which signs its callbacks and the events of webhooks without a secret of their own.
If the server has the account's secret in STENO_WEBHOOK_SECRETS, set the variable for 'rotate', too: only then
does that secret keep signing beside the new one.
'test' sends an event now and reports the outcome; the exit code is 1 if it did not arrive. With --server or
STENO_URL, that server sends the event, with its settings. Otherwise this command sends it, with the settings
of this shell: set those of the server (STENO_ALLOW_PRIVATE_NETWORK, ...). 'enable'
resumes deliveries to a receiver, callbacks included; 'disable' and 'remove' give up its pending deliveries.
If an ID is unknown, the command reports it and exits with code 1. Private addresses, such as localhost, need
STENO_ALLOW_PRIVATE_NETWORK.
`

const subcommands: Subcommands = {
  list,
  add: addWebhook,
  rotate: rotateSecrets,
  test: testWebhook,
  enable: enableWebhooks,
  disable: disableWebhooks,
  remove: removeWebhooks,
}

/**
 * `steno webhooks`: works directly on the database, as `steno keys` does, because it shows secrets
 * that no API should return.
 */
export const webhooksCommand: Command = {
  help,
  run: (args, terminal) => runSubcommand(subcommands, args, terminal),
}

async function list(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    account: { type: 'string' },
    all: { type: 'boolean', default: false },
  })
  if (positionals.length > 0) throw new UsageError('list takes no names')
  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: false, terminal })
  const endpoints = await listEndpoints(db, { account: values.account })
  const listed = endpoints.filter(({ kind }) => values.all || kind === 'webhook')
  terminal.stdout.write(formatEndpoints(listed))
  return 0
}

function formatEndpoints(endpoints: readonly Endpoint[]): string {
  const headings = ['id', 'account', 'name', 'url', 'events', 'from', 'created', 'arrived', 'state']
  const rows = endpoints.map((endpoint) => [
    ...[endpoint.id, endpoint.account, endpoint.name ?? '-', maskCredentials(endpoint.url)],
    ...[endpoint.events?.join() ?? 'all', endpoint.source],
    ...[formatDateTime(endpoint.createdAt), formatDateTime(endpoint.lastSuccessAt)],
    formatState(endpoint),
  ])
  return formatTable(headings, rows)
}

function formatState(endpoint: Endpoint): string {
  const { failingSince, lastFailure, disabledAt, disabledReason } = endpoint
  if (disabledAt !== null) return `disabled ${formatDateTime(disabledAt)}: ${disabledReason}`
  if (failingSince !== null) return `failing since ${formatDateTime(failingSince)}: ${lastFailure}`
  return 'ok'
}
