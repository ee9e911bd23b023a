import type { ApiUsageItem, ApiUsageReport } from '../client/api-types.ts'
import { createClient } from '../client/client.ts'
import { readServer, serverHelp, serverOptions } from '../client/server-url.ts'
import { parseArguments, UsageError } from '../terminal/arguments.ts'
import { parseDate } from '../terminal/date-time.ts'
import { formatClock } from '../terminal/format-clock.ts'
import { sanitizeJson } from '../terminal/sanitize.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command } from '../terminal/terminal.ts'

const help = `Usage: steno usage [--from DATE] [--to DATE] [--by LIST] [--account NAME] [--json]

Shows what the account of the key used: jobs, hours of audio, tokens of language models, and how much of
its quotas. Jobs count on the UTC day on which they ended, also after they are deleted.

  --from DATE     the first day; default the first of this month
  --to DATE       the last day; default today
  --by LIST       how to group: day, key, kind, account; comma-separated; default day
  --account NAME  another account, or '*' for all of them; needs a key with the scope admin
  --json          prints JSON, with add-ons and times in seconds
${serverHelp}`

const GROUPS = ['day', 'key', 'kind', 'account'] as const
type Group = (typeof GROUPS)[number]

/** `steno usage`: prints the usage that a running server has counted. */
export const usageCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      from: { type: 'string' },
      to: { type: 'string' },
      by: { type: 'string' },
      account: { type: 'string' },
      json: { type: 'boolean' },
      ...serverOptions,
    })
    if (positionals.length > 0) throw new UsageError('usage takes options only')
    const { from, to, by = 'day', account, json } = values
    for (const [name, text] of Object.entries({ from, to })) {
      if (text === undefined || !Number.isNaN(parseDate(text))) continue
      throw new UsageError(`--${name} must be an ISO date such as 2026-01-31, not '${text}'`)
    }
    const unknown = by.split(',').find((name) => !GROUPS.some((group) => group === name))
    if (unknown !== undefined) {
      throw new UsageError(`--by must be some of: ${GROUPS.join(', ')}; not '${unknown}'`)
    }
    const client = createClient(readServer(values, terminal), terminal.signal)
    const query = { from, to, by, account }
    const presentParameters = Object.entries(query).filter(([, value]) => value !== undefined)
    const report = await client.usage(
      Object.fromEntries(presentParameters) as Record<string, string>,
    )
    terminal.stdout.write(json ? `${sanitizeJson(report)}\n` : formatReport(report))
    return 0
  },
}

function formatReport({ by, items, total, quotas }: ApiUsageReport): string {
  const headings = [...by, 'jobs', 'failed', 'audio', 'billed', 'tokens']
  const rows = items.map((item) => [...by.map((name) => groupOf(item, name)), ...sumsOf(item)])
  const sums = [...by.map((_, i) => (i === 0 ? 'all' : '')), ...sumsOf(total)]
  return `${formatTable(headings, [...rows, sums])}${formatQuotas(quotas)}`
}

function groupOf(item: ApiUsageItem, name: Group): string {
  return item[name] ?? '-'
}

function sumsOf(sums: ApiUsageReport['total']): string[] {
  const { prompt_tokens, completion_tokens } = sums.usage
  return [
    ...[String(sums.jobs), String(sums.failed_jobs)],
    ...[formatDuration(sums.audio_duration), formatDuration(sums.billing_time)],
    String(prompt_tokens + completion_tokens),
  ]
}

function formatQuotas(quotas: ApiUsageReport['quotas']): string {
  if (!quotas) return ''
  const { month, tokens, storage } = quotas
  const lines: string[] = []
  if (month.limit !== null) {
    const used = `${formatDuration(month.used)} of ${formatDuration(month.limit)}`
    const waiting = `${formatDuration(month.in_progress)} in progress`
    lines.push(`This month: ${used}, ${waiting}, resets at ${month.resets_at}\n`)
  }
  if (tokens.limit !== null) {
    const used = `${tokens.used} of ${tokens.limit} tokens`
    lines.push(`Language models: ${used}, resets at ${tokens.resets_at}\n`)
  }
  if (storage.limit !== null) lines.push(`Stored: ${storage.used} of ${storage.limit} bytes\n`)
  return lines.join('')
}

function formatDuration(seconds: number): string {
  return formatClock(Math.round(seconds))
}
