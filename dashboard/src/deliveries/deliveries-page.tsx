import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type {
  ApiDelivery,
  ApiDeliveryList,
  ApiEndpoint,
  ApiEndpointList,
} from '../../../src/cli/client/api-types.ts'
import { hasScope, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { ActionButton } from '../components/busy-button.tsx'
import { formatDateTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'
import { NewWebhook } from './new-webhook.tsx'
import { type Change, Receivers } from './receivers.tsx'

const t = texts.deliveries
const LIMIT = 50
/** Maximum endpoints on the page; an operator sees those of all accounts. */
const MAX_RECEIVERS = 1000

/** Shows the endpoints and their deliveries. */
export function DeliveriesPage(): JSX.Element {
  const [receivers, setReceivers] = useState<ApiEndpoint[]>()
  const [deliveries, setDeliveries] = useState<ApiDelivery[]>()
  const load = useMemo(() => {
    const show = inOrder(([endpoints, events]: [ApiEndpointList, ApiDeliveryList]) => {
      setReceivers(endpoints.items)
      setDeliveries(events.items)
    })
    const accounts = hasScope('admin') ? '&account=*' : ''
    return () =>
      show(
        Promise.all([
          request<ApiEndpointList>(`v2/endpoints?limit=${MAX_RECEIVERS}${accounts}`),
          request<ApiDeliveryList>(`v2/deliveries?limit=${LIMIT}`),
        ]),
      )
  }, [])
  useEffect(() => {
    load().catch(report)
    return onEvent(() => load().catch(report))
  }, [load])
  const change: Change = (path, options = { method: 'POST' }) =>
    request(path, options).then(load).catch(report)
  return (
    <>
      <h1>{t.title}</h1>
      <p class="hint">{t.hint}</p>
      {!receivers || !deliveries ? (
        <p>{texts.loading}</p>
      ) : (
        <>
          {hasScope('write') && hasScope('read') && <NewWebhook onMade={load} />}
          <Receivers {...{ receivers, change }} reload={() => load().catch(report)} />
          <Deliveries deliveries={deliveries} change={change} />
        </>
      )}
    </>
  )
}

type DeliveriesProps = { deliveries: readonly ApiDelivery[]; change: Change }

function Deliveries({ deliveries, change }: DeliveriesProps): JSX.Element {
  return (
    <section class="card">
      <h2>{t.events}</h2>
      {deliveries.length === 0 ? (
        <p>{t.none}</p>
      ) : (
        <table class="stacked">
          <TableHeads heads={t.columns} />
          <tbody>
            {deliveries.map((delivery) => (
              <DeliveryRow key={delivery.id} delivery={delivery} change={change} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

type RowProps = { delivery: ApiDelivery; change: Change }

function DeliveryRow({ delivery, change }: RowProps): JSX.Element {
  const { id, event, url, status, reason, attempt_count, created_at } = delivery
  const states = { pending: '', delivered: 'state done', failed: 'state error' }
  return (
    <tr>
      <th scope="row">
        <EventName name={event} />
      </th>
      <td data-label={t.columns.to}>
        <bdi>{url}</bdi>
      </td>
      <td data-label={t.columns.status}>
        <span class={states[status]}>{t.status[status]}</span>
        <span class="hint block" dir="auto">
          {t.attempts(attempt_count)}
          {status !== 'delivered' && reason && `: ${reason}`}
        </span>
      </td>
      <td class="moment" data-label={t.columns.created}>
        {formatDateTime(created_at)}
      </td>
      <td class="actions">
        {hasScope('write') && status !== 'pending' && (
          <ActionButton
            aria-label={t.resendTo(event, url)}
            action={() => change(`v2/deliveries/${id}/resend`)}
          >
            {t.resend}
          </ActionButton>
        )}
      </td>
    </tr>
  )
}

/** Shows the name of an event, which may break after the dot in a narrow column. */
function EventName({ name }: { name: string }): JSX.Element {
  const [subject, ...rest] = name.split('.')
  return (
    <>
      {subject}
      {rest.length > 0 && (
        <>
          .<wbr />
          {rest.join('.')}
        </>
      )}
    </>
  )
}
