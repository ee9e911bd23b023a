import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ApiCreatedShare, ApiShareList } from '../../../../src/cli/client/api-types.ts'
import { type Job, request } from '../../api/api.ts'
import { inOrder } from '../../api/in-order.ts'
import { BusyButton } from '../../components/busy-button.tsx'
import { formatDateTime } from '../../components/format.ts'
import { report } from '../../components/notices.tsx'
import { OneTimeSecret } from '../../components/one-time-secret.tsx'
import { texts } from '../../texts.ts'

const t = texts.share
const DAY_S = 86_400
const DAYS = [1, 7, 30]

type ShareProps = Pick<Job, 'kind' | 'id'> & {
  /** Whether it is a session that still runs. */
  isLive?: boolean
}

/** Creates links that show the recording to anyone who has them, and deletes them. */
export function Share({ kind, id, isLive = false }: ShareProps): JSX.Element {
  const path = `v2/${kind}/${id}`
  const [links, setLinks] = useState<ApiShareList['items']>([])
  const [made, setMade] = useState<ApiCreatedShare>()
  const [days, setDays] = useState(7)
  const [isMaking, setMaking] = useState(false)
  const load = useMemo(() => {
    const show = inOrder(({ items }: ApiShareList) => setLinks(items))
    return () => show(request<ApiShareList>(`${path}/shares`))
  }, [path])
  useEffect(() => {
    load().catch(report)
  }, [load])
  const make = async () => {
    setMaking(true)
    try {
      setMade(await request(`${path}/share`, { json: { expires_in_s: days * DAY_S } }))
      await load()
    } catch (error) {
      report(error)
    } finally {
      setMaking(false)
    }
  }
  const end = async (id: string) => {
    await request(`${path}/shares/${id}`, { method: 'DELETE' })
    if (made?.id === id) setMade(undefined)
    await load()
  }
  return (
    <section class="card screen-only">
      <h2>{t.title}</h2>
      <p class="hint">{isLive ? t.liveHint : t.hint}</p>
      <div class="row">
        <label>
          {t.duration}
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {DAYS.map((count) => (
              <option key={count} value={count}>
                {t.days(count)}
              </option>
            ))}
          </select>
        </label>
        <BusyButton isBusy={isMaking} onClick={() => void make()}>
          {t.make}
        </BusyButton>
      </div>
      {made && <OneTimeSecret label={t.link} secret={made.url} />}
      {links.length > 0 && (
        <ul class="plain links" aria-label={t.links}>
          {links.map(({ id, expires_at }) => (
            <li key={id} class="version">
              <span>{t.until(formatDateTime(expires_at))}</span>
              <button
                type="button"
                aria-label={`${t.end}: ${t.until(formatDateTime(expires_at))}`}
                onClick={() => void end(id).catch(report)}
              >
                {t.end}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
