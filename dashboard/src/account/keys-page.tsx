import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ApiCreatedKey, ApiKey, ApiKeyList } from '../../../src/cli/client/api-types.ts'
import { forgetUser, hasScope, request, signedIn } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { BusyButton } from '../components/busy-button.tsx'
import { formatDateTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.keys
const DAY_S = 86_400
const DAYS = [0, 1, 30, 90, 365]

/** Shows the keys of the account, or of all accounts to an operator; creates and revokes them. */
export function KeysPage(): JSX.Element {
  const [keys, setKeys] = useState<ApiKey[]>()
  const [made, setMade] = useState<ApiCreatedKey>()
  const load = useMemo(() => {
    const show = inOrder(({ items }: ApiKeyList) => setKeys(items))
    return () => show(request<ApiKeyList>('v2/keys'))
  }, [])
  const isLoaded = keys !== undefined
  useEffect(() => {
    if (isLoaded) return
    load().catch(report)
    // The request is repeated until it succeeds, because the server may be starting.
    return onEvent(() => load().catch(report))
  }, [isLoaded])
  const make = async (json: object) => {
    setMade(await request<ApiCreatedKey>('v2/keys', { json }))
    await load()
  }
  const revoke = async ({ id, is_own }: ApiKey) => {
    if (!confirm(is_own ? t.revokeOwn : t.revokeQuestion(id))) return
    await request(`v2/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
    if (is_own) return forgetUser()
    if (made?.id === id) setMade(undefined)
    await load()
  }
  return (
    <>
      <h1>{t.title}</h1>
      <p class="hint">{t.hint}</p>
      <NewKey make={make} />
      {made && (
        <section class="card" role="status">
          <OneTimeSecret label={t.made(made.name ?? made.id)} secret={made.key} />
        </section>
      )}
      {keys ? (
        <KeyTable keys={keys} revoke={(key) => void revoke(key).catch(report)} />
      ) : (
        <p>{texts.loading}</p>
      )}
    </>
  )
}

/** Returns the scopes that the signed-in key may grant, the usual ones first. */
function givenScopes(): ApiKey['scopes'] {
  const all = Object.keys(t.scopes) as ApiKey['scopes']
  return hasScope('admin') ? all : all.filter((scope) => hasScope(scope))
}

function NewKey({ make }: { make: (json: object) => Promise<void> }): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const fields = new FormData(form)
    const [name, account] = ['name', 'account'].map((field) =>
      String(fields.get(field) ?? '').trim(),
    )
    const days = Number(fields.get('days'))
    setBusy(true)
    try {
      await make({
        scopes: fields.getAll('scope'),
        ...(name && { name }),
        ...(account && { account }),
        ...(days > 0 && { expires_in_s: days * DAY_S }),
      })
      form.reset()
    } catch (error) {
      report(error)
    }
    setBusy(false)
  }
  return (
    <form class="card" aria-label={t.make} onSubmit={(event) => void submit(event)}>
      <h2>{t.make}</h2>
      <div class="row">
        <label>
          {t.name}
          <input type="text" name="name" maxLength={100} placeholder={t.nameHint} />
        </label>
        {hasScope('admin') && (
          <label>
            {t.account}
            <input type="text" name="account" maxLength={100} value={signedIn.value?.account} />
          </label>
        )}
        <label>
          {t.ends}
          <select name="days">
            {DAYS.map((days) => (
              <option key={days} value={days}>
                {days === 0 ? t.never : t.days(days)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <ScopeChoice />
      <BusyButton type="submit" class="main" isBusy={isBusy}>
        {t.make}
      </BusyButton>
    </form>
  )
}

function ScopeChoice(): JSX.Element {
  return (
    <fieldset class="presets spaced">
      <legend>{t.may}</legend>
      {givenScopes().map((scope) => (
        <label key={scope} class="choice">
          <input
            type="checkbox"
            name="scope"
            value={scope}
            defaultChecked={scope !== 'keys' && scope !== 'admin'}
          />
          <span>{t.scopes[scope]}</span>
        </label>
      ))}
    </fieldset>
  )
}

type TableProps = { keys: ApiKey[]; revoke: (key: ApiKey) => void }

function KeyTable({ keys, revoke }: TableProps): JSX.Element {
  const { account, ...others } = t.columns
  const { name, ...rest } = others
  return (
    <section class="card">
      <h2>{t.list}</h2>
      <table class="stacked">
        <TableHeads heads={hasScope('admin') ? { name, account, ...rest } : others} />
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                <bdi>{key.name ?? key.id}</bdi>
                {key.is_own && ` (${t.own})`}
                {key.name !== null && <code class="block hint">{key.id}…</code>}
              </th>
              {hasScope('admin') && (
                <td data-label={account}>
                  <bdi>{key.account}</bdi>
                </td>
              )}
              <td data-label={t.columns.scopes}>{key.scopes.join(', ')}</td>
              <td data-label={t.columns.ends}>
                <Ends expiresAt={key.expires_at} />
              </td>
              <td data-label={t.columns.used}>
                {key.last_used_at === null ? t.unused : formatDateTime(key.last_used_at)}
              </td>
              <td class="actions">
                <button
                  type="button"
                  aria-label={t.revokeNamed(key.id)}
                  onClick={() => revoke(key)}
                >
                  {t.revoke}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Ends({ expiresAt }: { expiresAt: string | null }): JSX.Element {
  if (expiresAt === null) return <>{t.never}</>
  const isOver = Date.parse(expiresAt) <= Date.now()
  return <span class={isOver ? 'state error' : 'state'}>{formatDateTime(expiresAt)}</span>
}
