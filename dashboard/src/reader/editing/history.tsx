import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { BusyButton } from '../../components/busy-button.tsx'
import { formatDateTime } from '../../components/format.ts'
import { texts } from '../../texts.ts'
import type { Edits } from './edits.ts'

const t = texts.corrections

type HistoryProps = Pick<Edits, 'state' | 'apply'> & { canEdit: boolean }

/** Shows the versions of a corrected transcript, each with a button to restore it. */
export function History({ state, apply, canEdit }: HistoryProps): JSX.Element | null {
  if (!state || state.version === 0) return null
  const { version: current, versions, edits } = state
  return (
    <section class="card screen-only">
      <h2>{t.title}</h2>
      {edits.ignored && <p role="alert">{t.ignored}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also without a button in it. */}
      <ul class="plain scroll" aria-label={t.versions} tabIndex={0}>
        {versions.map(({ version, created_at, key_name, operations, restored }) => (
          <li key={version} class="version">
            <span>
              {t.version(version)}
              {version === current && ` (${t.current})`}
              <br />
              <span class="hint">
                {formatDateTime(created_at)}
                {' · '}
                {restored === null ? t.changes(operations) : t.restored(restored)}
                {key_name !== null && (
                  <>
                    {' · '}
                    <bdi>{key_name}</bdi>
                  </>
                )}
              </span>
            </span>
            {canEdit && version !== current && <Restore version={version} apply={apply} />}
          </li>
        ))}
        <li class="version">
          <span>{t.machine}</span>
          {canEdit && <Restore version={0} apply={apply} />}
        </li>
      </ul>
    </section>
  )
}

function Restore({ version, apply }: { version: number; apply: Edits['apply'] }): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const restore = async () => {
    setBusy(true)
    await apply({ op: 'restore', version })
    setBusy(false)
  }
  return (
    <BusyButton
      aria-label={`${t.restore}: ${version === 0 ? t.machine : t.version(version)}`}
      isBusy={isBusy}
      onClick={() => void restore()}
    >
      {t.restore}
    </BusyButton>
  )
}
