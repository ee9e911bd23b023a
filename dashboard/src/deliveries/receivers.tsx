import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiEndpoint, ApiWebhookTest } from '../../../src/cli/server/api-types.ts'
import { may, request } from '../api.ts'
import { notify, report } from '../parts/notices.tsx'
import { TableHeads } from '../parts/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.deliveries
const TEST_MS = 12_000

/** Sends a request that changes something, and loads the page anew. */
export type Change = (path: string, options?: { method: string }) => void

type ReceiversProps = { receivers: readonly ApiEndpoint[]; change: Change }

/** The webhooks of the account and the origins of its callbacks, with how they fare. */
export function Receivers({ receivers, change }: ReceiversProps): JSX.Element {
  return (
    <section class="card">
      <h2>{t.receivers}</h2>
      {receivers.length === 0 ? (
        <p>{t.noReceivers}</p>
      ) : (
        <table class="stacked">
          <TableHeads heads={t.receiverColumns} />
          <tbody>
            {receivers.map((receiver) => (
              <Receiver key={receiver.id} receiver={receiver} change={change} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

type ReceiverProps = { receiver: ApiEndpoint; change: Change }

function Receiver({ receiver, change }: ReceiverProps): JSX.Element {
  const { id, url, name, kind, status, last_failure, disabled_reason } = receiver
  const { events } = receiver
  const isOn = status !== 'disabled'
  const action = isOn ? 'disable' : 'enable'
  return (
    <tr>
      <th scope="row">
        <bdi>{name ?? url}</bdi>
        {name !== null && (
          <span class="hint block">
            <bdi>{url}</bdi>
          </span>
        )}
      </th>
      <td data-label={t.receiverColumns.kind}>
        {t.kind[kind]}
        {events && (
          <span class="hint block">
            {events.map((event) => texts.webhooks.events[event]).join(', ')}
          </span>
        )}
      </td>
      <td data-label={t.receiverColumns.status}>
        <span class={status === 'enabled' ? 'state done' : 'state error'}>
          {t.receiverStatus[status]}
        </span>
        <span class="hint block" dir="auto">
          {status === 'disabled' ? disabled_reason : status === 'failing' && last_failure}
        </span>
      </td>
      <td class="actions">
        {may('write') && (
          <>
            {kind === 'webhook' && <Test id={id} url={url} />}
            <button
              type="button"
              aria-label={t[action](url)}
              onClick={() => change(`v2/endpoints/${id}/${action}`)}
            >
              {isOn ? t.off : t.on}
            </button>
            {kind === 'webhook' && receiver.source !== 'settings' && (
              <Remove id={id} url={url} change={change} />
            )}
          </>
        )}
      </td>
    </tr>
  )
}

function Test({ id, url }: { id: string; url: string }): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    setBusy(true)
    try {
      const path = `v2/endpoints/${id}/test`
      const { is_delivered, reason } = await request<ApiWebhookTest>(path, { method: 'POST' })
      if (is_delivered) notify(t.arrived, { ms: TEST_MS })
      else notify(t.notArrived(reason ?? ''), { ms: TEST_MS, kind: 'error' })
    } catch (error) {
      report(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <button type="button" aria-label={t.testOf(url)} disabled={isBusy} onClick={() => void send()}>
      {t.test}
    </button>
  )
}

type RemoveProps = { id: string; url: string; change: Change }

function Remove({ id, url, change }: RemoveProps): JSX.Element {
  return (
    <button
      type="button"
      aria-label={t.removeOf(url)}
      onClick={() => {
        if (confirm(t.removeQuestion(url))) change(`v2/endpoints/${id}`, { method: 'DELETE' })
      }}
    >
      {texts.remove}
    </button>
  )
}
