import type { JSX, TargetedEvent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { languageName } from '../components/format.ts'
import { JobFilterFields } from '../components/job-filter.tsx'
import { texts } from '../texts.ts'
import { addressOfSearch, asPhrase, isFiltered, type SearchRequest } from './search-request.ts'

const t = texts.search

type FormProps = {
  asked: SearchRequest
  /** Searches again for what is asked. */
  repeat: () => void
}

/**
 * Shows the search terms and the filters. When they are submitted, they become the address of the
 * page.
 */
export function SearchForm({ asked, repeat }: FormProps): JSX.Element {
  const [entered, setWanted] = useState(asked)
  const [isPhrase, setPhrase] = useState(false)
  const set = (changed: Partial<SearchRequest>) => {
    setWanted((before) => ({ ...before, ...changed }))
  }
  const submit = (event: TargetedEvent<HTMLFormElement>) => {
    event.preventDefault()
    // The values are read from the fields, because the state may lack the last change.
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as SearchRequest
    const q = isPhrase ? asPhrase(fields.q) : fields.q.trim()
    if (!q) return
    const address = addressOfSearch({ ...fields, q })
    // The same address is no change of the page, but there may be new hits, or there was an error.
    if (address === addressOfSearch(asked)) repeat()
    else location.hash = address
  }
  return (
    <search>
      <form class="card" onSubmit={submit}>
        <div class="row">
          <label class="grow">
            {t.question}
            <input
              type="search"
              name="q"
              maxLength={500}
              required
              dir="auto"
              aria-describedby="question-hint"
              value={entered.q}
              onInput={(event) => set({ q: event.currentTarget.value })}
            />
          </label>
          <button type="submit" class="main">
            {t.submit}
          </button>
        </div>
        <label class="choice">
          <input
            type="checkbox"
            checked={isPhrase}
            onChange={(event) => setPhrase(event.currentTarget.checked)}
          />
          <span>{t.phrase}</span>
        </label>
        <p class="hint" id="question-hint">
          {t.hint}
        </p>
        <details open={isFiltered(asked)}>
          <summary>{t.filters}</summary>
          <div class="row filters">
            <LanguageField language={entered.language} set={set} />
            <SpeakerField speaker={entered.speaker} set={set} />
            <JobFilterFields filter={entered} set={set} />
          </div>
        </details>
      </form>
    </search>
  )
}

type SetProps = { set: (changed: Partial<SearchRequest>) => void }

function SpeakerField({ speaker, set }: SetProps & { speaker: string }): JSX.Element {
  return (
    <label>
      {t.speaker}
      <input
        type="text"
        name="speaker"
        dir="auto"
        maxLength={80}
        placeholder={t.speakerHint}
        value={speaker}
        onInput={(event) => set({ speaker: event.currentTarget.value })}
      />
    </label>
  )
}

function LanguageField({ language, set }: SetProps & { language: string }): JSX.Element {
  const [known, setKnown] = useState<readonly string[]>([])
  useEffect(() => {
    // Without the list the other filters still work.
    request<ApiCapabilities>('v2/capabilities').then(
      ({ recognition }) => setKnown(recognition.languages),
      () => {},
    )
  }, [])
  const codes = [...new Set(language ? [...known, language] : known)]
  const names = codes.map((code) => [code, languageName(code)] as const)
  return (
    <label>
      {t.language}
      <select
        name="language"
        value={language}
        onChange={(event) => set({ language: event.currentTarget.value })}
      >
        <option value="">{texts.recordings.all}</option>
        {names
          .sort((one, other) => one[1].localeCompare(other[1]))
          .map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
      </select>
    </label>
  )
}
