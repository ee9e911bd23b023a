import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { hasScope, type Job, type JobPage, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { formatDateTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'

const t = texts.live
const LIMIT = 50

/** Shows the running sessions of the account, with buttons to watch and to end them. */
export function RunningSessions({ without }: { without: string }): JSX.Element | null {
  const [sessions, setSessions] = useState<readonly Job[]>([])
  const load = useMemo(() => {
    const show = inOrder(({ items }: JobPage) => setSessions(items))
    const query = new URLSearchParams({ results: 'false', limit: String(LIMIT) })
    query.set('status', 'processing')
    return () => void show(request<JobPage>(`v2/live?${query}`)).catch(report)
  }, [])
  useEffect(() => {
    load()
    return onEvent(load)
  }, [])
  const others = sessions.filter(({ id }) => id !== without)
  if (others.length === 0) return null
  return (
    <section class="card">
      <h2>{t.sessions}</h2>
      <ul class="plain" aria-label={t.sessions}>
        {others.map(({ id, created_at, custom_metadata }) => (
          <li key={id} class="version">
            <a href={`#/live/${id}`}>{t.join(formatDateTime(created_at))}</a>
            {custom_metadata && <bdi class="hint">{JSON.stringify(custom_metadata)}</bdi>}
            {hasScope('live') && (
              <button
                type="button"
                aria-label={t.cancelSession(formatDateTime(created_at))}
                onClick={() => {
                  if (!confirm(t.cancelQuestion)) return
                  request(`v2/live/${id}/cancel`, { method: 'POST' }).then(load, report)
                }}
              >
                {texts.cancel}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
