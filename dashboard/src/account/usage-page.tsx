import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiQuotas, ApiUsageItem, ApiUsageReport } from '../../../src/cli/client/api-types.ts'
import { hasScope, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { formatBytes, formatDateTime, formatDay, formatTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.usage

type Period = keyof typeof t.periods
type Group = keyof typeof t.groups

/** Shows the usage of the account by day, key or kind and, with the scope `admin`, by account. */
export function UsagePage(): JSX.Element {
  const [period, setPeriod] = useState<Period>('month')
  const [group, setGroup] = useState<Group>('day')
  const [usage, setUsage] = useState<ApiUsageReport>()
  useEffect(() => {
    let isCurrent = true
    const query = new URLSearchParams({ ...daysOf(period, new Date()), by: group })
    if (group === 'account') query.set('account', '*')
    const load = () => {
      request<ApiUsageReport>(`v2/usage?${query}`).then((loaded) => {
        if (!isCurrent) return
        setUsage(loaded)
        stop()
      }, report)
    }
    // The request is repeated until it succeeds, because the server may be starting.
    const stop = onEvent(load)
    load()
    return () => {
      isCurrent = false
      stop()
    }
  }, [period, group])
  return (
    <>
      <h1>{t.title}</h1>
      <p class="hint">{t.hint}</p>
      <div class="row filters">
        <LabeledSelect
          label={t.period}
          names={t.periods}
          value={period}
          onChange={(name) => setPeriod(name)}
        />
        <LabeledSelect
          label={t.by}
          names={allowedGroups()}
          value={group}
          onChange={(name) => setGroup(name)}
        />
      </div>
      {usage ? <Report usage={usage} /> : <p role="status">{texts.loading}</p>}
    </>
  )
}

/** Returns the first and the last UTC day of a period. */
function daysOf(period: Period, now: Date): { from: string; to: string } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const today = day(now.getTime())
  if (period === 'month') return { from: day(Date.UTC(year, month)), to: today }
  if (period === 'year') return { from: day(Date.UTC(year, month - 11)), to: today }
  return { from: day(Date.UTC(year, month - 1)), to: day(Date.UTC(year, month, 0)) }
}

function allowedGroups(): Partial<typeof t.groups> {
  const { account: _, ...groups } = t.groups
  return hasScope('admin') ? t.groups : groups
}

type LabeledSelectProps<Name extends string> = {
  label: string
  names: Partial<Record<Name, string>>
  value: Name
  onChange(name: Name): void
}

function LabeledSelect<Name extends string>(props: LabeledSelectProps<Name>): JSX.Element {
  const { label, names, value, onChange } = props
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Name)}>
        {Object.entries<string | undefined>(names).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function Report({ usage }: { usage: ApiUsageReport }): JSX.Element {
  // The group of this response, because the user may have chosen another one since.
  const [group = 'day'] = usage.by
  const most = Math.max(...usage.items.map(({ audio_duration }) => audio_duration))
  return (
    <>
      {usage.quotas && <Quotas quotas={usage.quotas} />}
      <section class="card">
        <h2>{t.sums}</h2>
        {usage.items.length === 0 ? (
          <p>{t.none}</p>
        ) : (
          <table class="stacked">
            <TableHeads heads={{ group: t.groups[group], ...t.columns }} />
            <tbody>
              {usage.items.map((item, i) => (
                <UsageRow key={i} name={groupName(item, group)} sums={item} most={most} />
              ))}
              <UsageRow name={t.total} sums={usage.total} />
            </tbody>
          </table>
        )}
      </section>
    </>
  )
}

function groupName({ day, key, kind, account }: ApiUsageItem, group: Group): string {
  if (group === 'day') return day ? formatDay(day) : '–'
  if (group === 'kind') return kind ? texts.recordings.kind[kind] : '–'
  return (group === 'key' ? key : account) ?? '–'
}

/** Shows a row, with a bar for its share of the greatest value of all rows. */
function UsageRow(props: {
  name: string
  sums: ApiUsageReport['total']
  most?: number
}): JSX.Element {
  const { name, sums, most } = props
  const { jobs, failed_jobs, audio_duration, billing_time, usage } = sums
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td data-label={t.columns.jobs}>{jobs}</td>
      <td data-label={t.columns.failed}>{failed_jobs}</td>
      <td data-label={t.columns.audio}>
        {formatTime(audio_duration)}
        {most ? <progress aria-hidden="true" value={audio_duration} max={most} /> : null}
      </td>
      <td data-label={t.columns.billed}>{formatTime(billing_time)}</td>
      <td data-label={t.columns.tokens}>{usage.prompt_tokens + usage.completion_tokens}</td>
    </tr>
  )
}

function Quotas({ quotas: { month, tokens, storage } }: { quotas: ApiQuotas }): JSX.Element {
  return (
    <section class="card">
      <h2>{t.quotas}</h2>
      <Quota
        label={t.month}
        {...month}
        format={formatTime}
        hint={t.resets(formatDateTime(month.resets_at), formatTime(month.in_progress))}
      />
      <Quota label={t.monthTokens} {...tokens} format={(count) => `${count}`} />
      <Quota label={t.storage} {...storage} format={formatBytes} />
    </section>
  )
}

type QuotaProps = {
  label: string
  used: number
  limit: number | null
  format(amount: number): string
  hint?: string
}

function Quota({ label, used, limit, format, hint }: QuotaProps): JSX.Element {
  return (
    <p>
      {label}: {limit === null ? t.unlimited(format(used)) : t.ofLimit(format(used), format(limit))}
      {limit !== null && <meter aria-label={label} value={used} max={limit} high={limit * 0.9} />}
      {hint && limit !== null && <span class="hint block">{hint}</span>}
    </p>
  )
}
