import type { JSX } from 'preact'
import type { ApiEndpoint, ApiWebhookTest } from '../../../src/cli/client/api-types.ts'
import { hasScope, request } from '../api/api.ts'
import { ActionButton } from '../components/busy-button.tsx'
import { notify, report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.deliveries
const TEST_MS = 12_000

/** Sends a request that changes something, and reloads the page. */
export type Change = (path: string, options?: { method: string }) => Promise<void>

type ReceiversProps = { receivers: readonly ApiEndpoint[]; change: Change; reload: () => void }

/**
 * Shows the webhooks and the origins of callbacks with their status; to an operator, those of all
 * accounts.
 */
export function Receivers({ receivers, change, reload }: ReceiversProps): JSX.Element {
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
              <Receiver key={receiver.id} {...{ receiver, change, reload }} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

type ReceiverProps = { receiver: ApiEndpoint } & Omit<ReceiversProps, 'receivers'>

function Receiver({ receiver, change, reload }: ReceiverProps): JSX.Element {
  const { id, account, url, name, kind, status, last_failure, disabled_reason } = receiver
  const { events } = receiver
  const isOn = status !== 'disabled'
  const isUnused = status === 'enabled' && receiver.last_success_at === null
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
        {hasScope('admin') && (
          <span class="hint block">
            {t.account} <bdi>{account}</bdi>
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
        <span class={isUnused ? '' : status === 'enabled' ? 'state done' : 'state error'}>
          {t.receiverStatus[isUnused ? 'unused' : status]}
        </span>
        <span class="hint block" dir="auto">
          {status === 'disabled' ? disabled_reason : status === 'failing' && last_failure}
        </span>
      </td>
      <td class="actions">
        {hasScope('write') && (
          <>
            {kind === 'webhook' && <Test id={id} url={url} onDone={reload} />}
            <ActionButton
              aria-label={t[action](url)}
              action={() => change(`v2/endpoints/${id}/${action}`)}
            >
              {isOn ? t.off : t.on}
            </ActionButton>
            {kind === 'webhook' && receiver.source !== 'settings' && (
              <Remove id={id} url={url} change={change} />
            )}
          </>
        )}
      </td>
    </tr>
  )
}

type TestProps = { id: string; url: string; onDone: () => void }

function Test({ id, url, onDone }: TestProps): JSX.Element {
  const send = async () => {
    try {
      const path = `v2/endpoints/${id}/test`
      const { is_delivered, reason } = await request<ApiWebhookTest>(path, { method: 'POST' })
      if (is_delivered) notify(t.arrived, { ms: TEST_MS })
      else notify(t.notArrived(reason ?? ''), { ms: TEST_MS, kind: 'error' })
    } catch (error) {
      report(error)
    } finally {
      onDone()
    }
  }
  return (
    <ActionButton aria-label={t.testOf(url)} action={send}>
      {t.test}
    </ActionButton>
  )
}

type RemoveProps = { id: string; url: string; change: Change }

function Remove({ id, url, change }: RemoveProps): JSX.Element {
  return (
    <ActionButton
      aria-label={t.removeOf(url)}
      action={async () => {
        if (confirm(t.removeQuestion(url))) await change(`v2/endpoints/${id}`, { method: 'DELETE' })
      }}
    >
      {texts.remove}
    </ActionButton>
  )
}
