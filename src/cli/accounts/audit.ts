import { readConfig } from '../../config/config.ts'
import {
  type AuditAction,
  auditActions,
  listAudit,
  type StoredAuditEntry,
} from '../../storage/accounts/audit-log.ts'
import { openDatabase } from '../server/open-database.ts'
import {
  parseArguments,
  parseNumberOption,
  readSettings,
  UsageError,
} from '../terminal/arguments.ts'
import { formatDateTime, readTimeAgo } from '../terminal/date-time.ts'
import { sanitizeJson } from '../terminal/sanitize.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command } from '../terminal/terminal.ts'

const help = `Usage: steno audit [--action ACTIONS] [--account NAME] [--key ID] [--subject ID] [--since WHEN]
                   [--limit N] [--offset N] [--json]

Lists the audit log of the database of this machine, newest first: which keys were created and revoked, which
jobs were deleted, which models were pulled and removed, which webhooks were created and removed, with
which key and from which address, and when servers started. STENO_AUDIT_DAYS sets how long entries are kept.

  --action ACTIONS  only these actions, comma-separated:
                    ${auditActions.slice(0, 5).join(', ')},
                    ${auditActions.slice(5).join(', ')}
  --account NAME    only entries about this account
  --key ID          only actions with this key
  --subject ID      only entries about this key, job, model or webhook
  --since WHEN      only entries since then: an age such as 24h or 7d, or an ISO date
  --limit N         entries per page; default 20
  --offset N        entries to skip; default 0
  --json            prints JSON, with the settings of a start
`

/** `steno audit`: reads the database, because it must also work when no server answers. */
export const auditCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      action: { type: 'string' },
      account: { type: 'string' },
      key: { type: 'string' },
      subject: { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string' },
      offset: { type: 'string' },
      json: { type: 'boolean' },
    })
    if (positionals.length > 0) throw new UsageError('audit takes options only')
    const { account, key: keyId, subject, since } = values
    const actions = readActions(values.action)
    const limit = parseNumberOption(values.limit, { name: 'limit', fallback: 20, min: 1 })
    const offset = parseNumberOption(values.offset, { name: 'offset', fallback: 0, min: 0 })
    const from = since && readTimeAgo(since, { name: 'since', now: Date.now() })
    const { storage } = readSettings(readConfig, terminal.env)
    await using db = await openDatabase(storage, { create: false, terminal })
    const filter = { actions, account, keyId, subject, from: from || undefined }
    const { entries, more } = await listAudit(db, filter, { offset, limit })
    const fullEntries = entries.map(({ at, details, ...entry }) => ({
      at: new Date(at).toISOString(),
      ...entry,
      details: JSON.parse(details),
    }))
    terminal.stdout.write(values.json ? `${sanitizeJson(fullEntries)}\n` : formatEntries(entries))
    if (more)
      terminal.stderr.write(
        `More results: repeat the command with --offset ${offset + entries.length}\n`,
      )
    return 0
  },
}

function readActions(text: string | undefined): AuditAction[] | undefined {
  return text?.split(',').map((name) => {
    const action = auditActions.find((known) => known === name)
    if (action) return action
    throw new UsageError(`--action must be some of: ${auditActions.join(', ')}; not '${name}'`)
  })
}

function formatEntries(entries: readonly StoredAuditEntry[]): string {
  const headings = ['time', 'action', 'account', 'subject', 'by', 'key', 'address']
  const rows = entries.map(({ at, action, account, subject, source, keyId, address, details }) => {
    const { user } = JSON.parse(details) as { user?: string }
    const by = user === undefined ? source : `${source} of ${user}`
    return [
      ...[formatDateTime(at), action, account ?? '-', subject ?? '-', by],
      ...[keyId ?? '-', address ?? '-'],
    ]
  })
  return formatTable(headings, rows)
}
