import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiSearchHit, ApiSearchHits } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { route, routeQuery } from '../app/route.ts'
import { BusyButton } from '../components/busy-button.tsx'
import { formatDateTime, formatTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'
import { SearchForm } from './search-form.tsx'
import { addressOfSearch, isFiltered, readRequest, toQuery } from './search-request.ts'

const t = texts.search
const LIMIT = 30

type Found = { address: string; hits: readonly ApiSearchHit[]; hasMore: boolean }

/**
 * Searches the transcripts of all recordings. The address contains the search, so that it can be
 * shared.
 */
export function SearchPage(): JSX.Element {
  const searchRequest = readRequest(route.value[1] ?? '', routeQuery.value)
  const address = addressOfSearch(searchRequest)
  const [loaded, setLoaded] = useState<Found>()
  // The hits of the previous search are removed.
  const found = loaded?.address === address ? loaded : undefined
  const [isLoading, setLoading] = useState(false)
  const latest = useRef('')
  latest.current = address
  async function load(offset: number): Promise<void> {
    setLoading(true)
    try {
      const query = toQuery(searchRequest, { offset, limit: LIMIT })
      const { items, next } = await request<ApiSearchHits>(`v2/search?${query}`)
      if (latest.current !== address) return
      setLoaded((before) => ({
        address,
        hits: offset > 0 && before ? [...before.hits, ...items] : items,
        hasMore: next !== null,
      }))
    } catch (error) {
      report(error)
    } finally {
      if (latest.current === address) setLoading(false)
    }
  }
  useEffect(() => {
    setLoaded(undefined)
    setLoading(false)
    if (searchRequest.q) void load(0)
  }, [address])
  return (
    <>
      <h1>{t.title}</h1>
      <SearchForm key={address} asked={searchRequest} repeat={() => void load(0)} />
      <p class="hint" role="status">
        {isLoading ? texts.loading : found && t.found(found.hits.length, found.hasMore)}
      </p>
      {found?.hits.length === 0 && (
        <p class="empty">{isFiltered(searchRequest) ? t.noneFiltered : t.none}</p>
      )}
      {found && found.hits.length > 0 && <Hits hits={found.hits} />}
      {found?.hasMore && (
        <p class="row center">
          <BusyButton isBusy={isLoading} onClick={() => void load(found.hits.length)}>
            {t.more}
          </BusyButton>
        </p>
      )}
    </>
  )
}

/** Shows the hits, grouped by recording. */
function Hits({ hits }: { hits: readonly ApiSearchHit[] }): JSX.Element {
  const groups: ApiSearchHit[][] = []
  for (const hit of hits) {
    const last = groups.at(-1)
    if (last && last[0]!.job.id === hit.job.id) last.push(hit)
    else groups.push([hit])
  }
  return (
    <>
      {groups.map((group, i) => (
        <Recording key={i} hits={group} />
      ))}
    </>
  )
}

function Recording({ hits }: { hits: readonly ApiSearchHit[] }): JSX.Element {
  const { job } = hits[0]!
  // The API returns the latest hits first, but people read a recording from its beginning.
  const inOrder = [...hits].sort((a, b) => a.start - b.start)
  return (
    <section class="card">
      <h2>
        <a href={`#/${job.kind}/${job.id}`}>
          <bdi>{job.filename ?? texts.recordings.kind[job.kind]}</bdi>
        </a>
      </h2>
      <p class="hint">{formatDateTime(job.created_at)}</p>
      <ul class="hits">
        {inOrder.map((hit) => (
          <Hit key={`${hit.start} ${hit.channel}`} hit={hit} />
        ))}
      </ul>
    </section>
  )
}

function Hit({ hit }: { hit: ApiSearchHit }): JSX.Element {
  const { job, start, language, speaker, speaker_name: name, before, after } = hit
  const who = name ?? (speaker === null ? undefined : texts.reader.speaker(speaker + 1))
  return (
    <li>
      <a
        class="time"
        href={`#/${job.kind}/${job.id}/${start}`}
        aria-label={texts.reader.jump(formatTime(start))}
      >
        {formatTime(start)}
      </a>
      <div>
        {who !== undefined && (
          <span class="hint" dir="auto">
            {who}
          </span>
        )}
        <p dir="auto" lang={language}>
          {before && <span class="context">{before} </span>}
          <HighlightedText hit={hit} />
          {after && <span class="context"> {after}</span>}
        </p>
      </div>
    </li>
  )
}

/** Shows the text, with the found words marked. */
function HighlightedText({ hit: { text, highlights } }: { hit: ApiSearchHit }): JSX.Element {
  const parts: (string | JSX.Element)[] = []
  let at = 0
  for (const [start = 0, end = 0] of highlights) {
    parts.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>)
    at = end
  }
  return (
    <span>
      {parts}
      {text.slice(at)}
    </span>
  )
}
