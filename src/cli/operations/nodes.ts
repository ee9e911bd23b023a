import { readConfig } from '../../config/config.ts'
import { listNodes, type Node } from '../../storage/database/nodes/nodes.ts'
import { openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime } from '../terminal/date-time.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command } from '../terminal/terminal.ts'

const help = `Usage: steno nodes [--json]

Lists the servers that share the database of STENO_DATABASE_URL, or the server that uses STENO_DATA_DIR, with
roles, addresses and live sessions. A server that has died disappears within a minute.

  --json   prints JSON instead of a table
`

/** `steno nodes`: reads the database, because it must also work when no server answers. */
export const nodesCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { json: { type: 'boolean' } })
    if (positionals.length > 0) throw new UsageError('nodes takes options only')
    const { storage } = readSettings(readConfig, terminal.env)
    await using db = await openDatabase(storage, { create: false, terminal })
    const nodes = await listNodes(db)
    terminal.stdout.write(values.json ? `${JSON.stringify(nodes, null, 2)}\n` : formatNodes(nodes))
    return 0
  },
}

function formatNodes(nodes: readonly Node[]): string {
  if (nodes.length === 0) return 'No server is running.\n'
  const headings = ['host', 'pid', 'address', 'roles', 'state', 'live sessions', 'load', 'started']
  const rows = nodes.map(({ host, pid, url, roles, isDraining, live, startedAt }) => [
    ...[host, String(pid), url ?? '-', roles.join() || '-', isDraining ? 'draining' : 'ready'],
    live ? String(live.sessions) : '-',
    live ? `${live.load} of ${live.capacity}` : '-',
    formatDateTime(startedAt),
  ])
  return formatTable(headings, rows)
}
