import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { hasScope, request, signedIn, signOut } from '../api/api.ts'
import { formatTime, languageName } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'
import { LoadCharts } from './load-charts.tsx'
import { Nodes } from './nodes.tsx'
import { languageList, StoredModels } from './stored-models.tsx'

/** Shows the capabilities and the models of the server, and the sign-in. */
export function ServerPage(): JSX.Element {
  const [capabilities, setCapabilities] = useState<ApiCapabilities>()
  const [isLoaded, setLoaded] = useState(false)
  const [readiness, setReadiness] = useState('')
  useEffect(() => {
    request<ApiCapabilities>('v2/capabilities')
      .then(setCapabilities, report)
      .finally(() => setLoaded(true))
    request('ready').then(
      () => setReadiness(texts.server.ready),
      (error: Error) => setReadiness(`${texts.server.notReady}: ${error.message}`),
    )
  }, [])
  return (
    <>
      <h1>{texts.server.title}</h1>
      <p role="status">{readiness || texts.loading}</p>
      {hasScope('admin') && <LoadCharts />}
      {/* All sections appear at once, because a later one would move the others. */}
      {isLoaded && (
        <>
          {hasScope('admin') && <Nodes />}
          {capabilities && <Capabilities capabilities={capabilities} />}
          <Account />
        </>
      )}
      <p>
        <a href="#/failures">{texts.failures.title}</a> · <a href="guide">{texts.server.guide}</a> ·{' '}
        <a href="docs">{texts.server.reference}</a> · <a href="about">{texts.server.about}</a>
      </p>
    </>
  )
}

function Account(): JSX.Element {
  return (
    <section class="card">
      <h2>{texts.account.title}</h2>
      <p>
        <bdi>{signedIn.value?.account}</bdi>.{' '}
        {texts.account.scopes(signedIn.value?.scopes.join(', ') ?? '')}
      </p>
      <button type="button" onClick={() => signOut({ everywhere: true }).catch(report)}>
        {texts.account.signOutEverywhere}
      </button>
    </section>
  )
}

function Capabilities({ capabilities }: { capabilities: ApiCapabilities }): JSX.Element {
  const { recognition, models, limits } = capabilities
  return (
    <>
      <section class="card">
        <h2>{texts.server.languages}</h2>
        <p>{recognition.languages.map(languageName).sort().join(', ')}</p>
        <p class="hint">{texts.server.limits(formatTime(limits.max_audio_seconds))}</p>
      </section>
      {hasScope('admin') ? (
        <StoredModels />
      ) : (
        <>
          <Models title={texts.server.models} models={models.installed} />
          <Models title={texts.server.available} models={models.available} areMissing />
        </>
      )}
    </>
  )
}

type Model = { name: string; kind: string; languages: string[]; license: string }

/** The names of kinds for people; a newer server may have others. */
const kinds: Record<string, string> = texts.server.kinds

function Models(props: { title: string; models: Model[]; areMissing?: boolean }): JSX.Element {
  const { title, models, areMissing = false } = props
  const heads = texts.server.modelColumns
  return (
    <section class="card">
      <h2>{title}</h2>
      <table class="stacked">
        <TableHeads heads={heads} />
        <tbody>
          {models.map(({ name, kind, languages, license }) => (
            <tr key={name}>
              <th scope="row" data-label={heads.name}>
                {name}
                {areMissing && <code class="block">{texts.server.install(name)}</code>}
              </th>
              <td data-label={heads.kind}>{kinds[kind] ?? kind}</td>
              <td data-label={heads.languages}>{languageList(languages) || '–'}</td>
              <td data-label={heads.license}>{license}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
