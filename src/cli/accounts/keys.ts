import { generateKey } from '../../api/auth/generate-key.ts'
import { readConfig } from '../../config/config.ts'
import { deleteKey, listKeys, type StoredKey } from '../../storage/accounts/keys.ts'
import { databaseName, openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime } from '../terminal/date-time.ts'
import { runSubcommand, type Subcommands } from '../terminal/subcommands.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { commandActor } from './command-actor.ts'
import { FIRST_ACCOUNT } from './first-key.ts'
import { readExpiry, readLabel, readScopes } from './key-options.ts'

const help = `Usage: steno keys [list]
       steno keys create [options]
       steno keys revoke ID...

Lists, creates and revokes the API keys in the data folder of this machine, STENO_DATA_DIR, whether or not
a server is running on it. Changes apply at once, also in a running server. Keys in STENO_API_KEYS are not
listed here; they have the scopes read, write and live.

  --account NAME   the account whose jobs and files the key can access; default ${FIRST_ACCOUNT}
  --name TEXT      a description, shown in the list
  --scopes LIST    limits what the key can do, default read,write,live:
                   read   all requests that only read
                   write  upload recordings, create and delete their jobs
                   live   create, change and delete live sessions
                   keys   list, create and revoke keys of its account, with no more rights than its own
                   admin  see the whole server, such as its nodes, and the keys of all accounts
  --expires WHEN   a number of days such as 30d, or an ISO date (midnight UTC unless it has a time)

'create' prints the key on stdout, only once: the server stores only its hash. An ID is the beginning of a
key, as the list shows it. If an ID is unknown, the command reports it and exits with code 1.
`

const subcommands: Subcommands = { list, create, revoke }

/** `steno keys`: works directly on the database, because a client needs a key first. */
export const keysCommand: Command = {
  help,
  run: (args, terminal) => runSubcommand(subcommands, args, terminal),
}

async function create(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    account: { type: 'string', default: FIRST_ACCOUNT },
    name: { type: 'string' },
    scopes: { type: 'string' },
    expires: { type: 'string' },
  })
  if (positionals.length > 0) throw new UsageError(`create takes options only`)
  const account = readLabel(values.account, { name: 'account' })
  const name = values.name === undefined ? null : readLabel(values.name, { name: 'name' })
  const scopes = readScopes(values.scopes)
  const expiresAt = readExpiry(values.expires, Date.now())

  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: true, terminal })
  const { key, id } = await generateKey(db, { account, name, scopes, expiresAt }, commandActor())
  const end = expiresAt === null ? '' : ` until ${formatDateTime(expiresAt)}`
  terminal.stderr.write(
    `Key ${id} of the account ${account}, for ${scopes.join(', ')}${end}, in ${databaseName(storage)}.\n` +
      'It is shown only once:\n',
  )
  terminal.stdout.write(`${key}\n`)
  return 0
}

async function list(args: string[], terminal: Terminal): Promise<number> {
  if (parseArguments(args, {}).positionals.length > 0) throw new UsageError('list takes no names')
  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: false, terminal })
  terminal.stdout.write(formatKeys(await listKeys(db)))
  return 0
}

async function revoke(args: string[], terminal: Terminal): Promise<number> {
  const ids = parseArguments(args, {}).positionals
  if (ids.length === 0) throw new UsageError('name at least one key by its id')
  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: false, terminal })
  let missing = 0
  for (const id of ids) {
    const isRevoked = await deleteKey(db, id, commandActor())
    terminal.stderr.write(`${id}: ${isRevoked ? 'revoked' : 'no key has this id'}\n`)
    if (!isRevoked) missing++
  }
  return missing > 0 ? 1 : 0
}

function formatKeys(keys: readonly StoredKey[]): string {
  const headings = ['id', 'account', 'name', 'scopes', 'created', 'expires', 'last used']
  const rows = keys.map(({ prefix, account, name, scopes, ...times }) => [
    ...[prefix, account, name ?? '-', scopes.join()],
    ...[times.createdAt, times.expiresAt, times.lastUsedAt].map(formatDateTime),
  ])
  return formatTable(headings, rows)
}
