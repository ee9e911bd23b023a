import type { ApiDelivery } from '../client/api-types.ts'
import { createClient, type DeliveryListOptions } from '../client/client.ts'
import { readServer, serverHelp, serverOptions } from '../client/server-url.ts'
import type { RequestError } from '../client/transport.ts'
import { parseArguments, parseNumberOption, UsageError } from '../terminal/arguments.ts'
import { readTimeAgo } from '../terminal/date-time.ts'
import { sanitizeJson } from '../terminal/sanitize.ts'
import { runSubcommand, type Subcommands } from '../terminal/subcommands.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'

const help = `Usage: steno deliveries [list] [--job ID] [--endpoint ID] [--status STATES] [--event EVENTS]
                        [--limit N] [--offset N]
       steno deliveries show ID
       steno deliveries resend ID...
       steno deliveries resend --failed-since WHEN [--endpoint ID] [--job ID]

Lists the deliveries to the callbacks and webhooks of an account, newest first; shows one delivery as JSON
with its attempts; or resends deliveries. Reports those it cannot resend, and then exits with code 1.

  --job ID             only deliveries of this job
  --endpoint ID        only deliveries to this receiver, as listed here and by 'steno webhooks'
  --status STATES      only these states: pending, delivered, failed; comma-separated
  --event EVENTS       only these events; comma-separated
  --failed-since WHEN  all that failed since then: an age such as 24h or 7d, or an ISO date
  --limit N            deliveries per page; default 20
  --offset N           deliveries to skip; default 0
${serverHelp}`

const subcommands: Subcommands = {
  list,
  show,
  resend,
}

/** `steno deliveries`: the delivery log of a running server. */
export const deliveriesCommand: Command = {
  help,
  run: (args, terminal) => runSubcommand(subcommands, args, terminal),
}

async function list(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    job: { type: 'string' },
    endpoint: { type: 'string' },
    status: { type: 'string' },
    event: { type: 'string' },
    limit: { type: 'string' },
    offset: { type: 'string' },
    ...serverOptions,
  })
  if (positionals.length > 0) throw new UsageError('list takes options only')
  const query = toListOptions(values)
  const client = createClient(readServer(values, terminal), terminal.signal)
  const { items, next } = await client.listDeliveries(query)
  terminal.stdout.write(formatDeliveries(items))
  if (next !== null) {
    terminal.stderr.write(
      `More results: repeat the command with --offset ${query.offset + items.length}\n`,
    )
  }
  return 0
}

async function show(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, serverOptions)
  const [id] = positionals
  if (id === undefined || positionals.length > 1) throw new UsageError('show takes one ID')
  const client = createClient(readServer(values, terminal), terminal.signal)
  terminal.stdout.write(`${sanitizeJson(await client.findDelivery(id))}\n`)
  return 0
}

async function resend(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, {
    'failed-since': { type: 'string' },
    job: { type: 'string' },
    endpoint: { type: 'string' },
    ...serverOptions,
  })
  const { 'failed-since': since, job, endpoint } = values
  const isOfIds = since === undefined && job === undefined && endpoint === undefined
  if (isOfIds ? positionals.length === 0 : since === undefined || positionals.length > 0) {
    throw new UsageError('resend takes either IDs or --failed-since, with --endpoint and --job')
  }
  const client = createClient(readServer(values, terminal), terminal.signal)
  if (since !== undefined) {
    const at = readTimeAgo(since, { name: 'failed-since', now: Date.now() })
    const { resent } = await client.resendFailed({
      since: new Date(at).toISOString(),
      ...(endpoint !== undefined && { endpoint_id: endpoint }),
      ...(job !== undefined && { job_id: job }),
    })
    terminal.stdout.write(`${resent} queued to be sent again\n`)
    return 0
  }
  let failed = 0
  for (const id of positionals) {
    const reported = await client.resendDelivery(id).then(
      () => 'queued to be sent again',
      (error: RequestError) => {
        terminal.signal.throwIfAborted()
        failed++
        return error.message
      },
    )
    terminal.stderr.write(`${id}: ${reported}\n`)
  }
  return failed > 0 ? 1 : 0
}

type DeliveryOptions = Partial<
  Record<'job' | 'endpoint' | 'status' | 'event' | 'limit' | 'offset', string | undefined>
>

const STATES = ['pending', 'delivered', 'failed']
const EVENTS = [
  'transcription.created',
  'transcription.success',
  'transcription.error',
  'webhook.test',
]
/** Callbacks of live sessions name the type of the message, such as `live.transcript`. */
const LIVE_EVENT = /^live\.[a-z_]+$/

function toListOptions({
  job,
  endpoint,
  status,
  event,
  limit,
  offset,
}: DeliveryOptions): DeliveryListOptions {
  const wrong = status?.split(',').find((state) => !STATES.includes(state))
  if (wrong !== undefined) {
    throw new UsageError(`--status must be some of: ${STATES.join(', ')}; not '${wrong}'`)
  }
  const unknown = event?.split(',').find((part) => !EVENTS.includes(part) && !LIVE_EVENT.test(part))
  if (unknown !== undefined) {
    throw new UsageError(
      `--event must be some of: ${EVENTS.join(', ')}, or live. and the type of a message; not '${unknown}'`,
    )
  }
  return {
    offset: parseNumberOption(offset, { name: 'offset', fallback: 0, min: 0 }),
    limit: parseNumberOption(limit, { name: 'limit', fallback: 20, min: 1 }),
    ...(job !== undefined && { job_id: job }),
    ...(endpoint !== undefined && { endpoint_id: endpoint }),
    ...(status !== undefined && { status }),
    ...(event !== undefined && { event }),
  }
}

/** Formats a line of headings and one for each delivery, in columns. */
function formatDeliveries(deliveries: readonly ApiDelivery[]): string {
  const headings = ['id', 'created', 'status', 'event', 'attempts', 'job', 'endpoint', 'url']
  const rows = deliveries.map((delivery) => [
    ...[delivery.id, delivery.created_at, delivery.status, delivery.event],
    ...[String(delivery.attempt_count), delivery.job_id ?? '-', delivery.endpoint_id],
    ...[delivery.url, delivery.reason ?? '-'],
  ])
  return formatTable([...headings, 'reason'], rows)
}
