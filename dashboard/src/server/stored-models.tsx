import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { ApiStoredModel, ApiStoredModelList } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { formatBytes, formatTime, languageName } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.storedModels

/**
 * Shows the models of the machine to operators, installed ones first, with buttons to install and
 * remove them.
 */
export function StoredModels(): JSX.Element {
  const [models, setModels] = useState<ApiStoredModel[]>([])
  const load = useMemo(() => {
    const show = inOrder(({ items }: ApiStoredModelList) => setModels(items))
    return () => void show(request<ApiStoredModelList>('v2/models')).catch(report)
  }, [])
  useEffect(() => {
    load()
    return onEvent(load)
  }, [])
  return (
    <section class="card">
      <h2>{t.title}</h2>
      <table class="stacked">
        <TableHeads heads={t.columns} />
        <tbody>
          {models.map((model) => (
            <ModelRow key={model.name} model={model} onChange={load} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

type ModelRowProps = { model: ApiStoredModel; onChange: () => void }

function ModelRow({ model, onChange }: ModelRowProps): JSX.Element {
  const { name, kind, languages, bytes, memory_bytes, state, license, credit } = model
  return (
    <tr>
      <th scope="row" title={[license, credit].filter(Boolean).join('. ')}>
        <bdi>{name}</bdi>
      </th>
      <td data-label={t.columns.kind}>{texts.server.kinds[kind]}</td>
      <td data-label={t.columns.languages}>{languageList(languages) || t.anyLanguage}</td>
      <td data-label={t.columns.size}>
        {bytes > 0 ? formatBytes(bytes) : '–'}
        {memory_bytes !== null && (
          <span class="hint block">{t.memory(formatBytes(memory_bytes))}</span>
        )}
      </td>
      <td data-label={t.columns.state}>
        <span class={state === 'installed' ? 'state done' : 'state'}>{t.state[state]}</span>
        {model.failure !== null && (
          <span class="hint block">
            {t.failed}: {model.failure}
          </span>
        )}
      </td>
      <td>
        <Action model={model} onChange={onChange} />
      </td>
    </tr>
  )
}

function Action({ model, onChange }: ModelRowProps): JSX.Element | null {
  const { name, pull, state } = model
  const path = `v2/models/${encodeURIComponent(name)}`
  const change = (promise: Promise<unknown>) => void promise.then(onChange, report)
  if (pull) {
    const left = pull.seconds_left === null ? t.waiting : t.left(formatTime(pull.seconds_left))
    return (
      <>
        <progress aria-label={t.installing(name)} value={pull.fraction} />
        <span class="hint block">{left}</span>
      </>
    )
  }
  if (state === 'available' || state === 'outdated') {
    const install = () => change(request(`${path}/pull`, { method: 'POST' }))
    return (
      <button type="button" aria-label={t.installNamed(name)} onClick={install}>
        {t.install}
      </button>
    )
  }
  if (!model.is_removable) return null
  const remove = () => {
    if (confirm(t.removeQuestion(name))) change(request(path, { method: 'DELETE' }))
  }
  return (
    <button type="button" class="quiet" aria-label={t.removeNamed(name)} onClick={remove}>
      {t.remove}
    </button>
  )
}

/** Returns the names of a few languages, or the number of many. */
export function languageList(codes: string[]): string {
  if (codes.length > 4) return texts.server.languageCount(codes.length)
  return codes.map(languageName).join(', ')
}
