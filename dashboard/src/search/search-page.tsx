import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiSearchHit, ApiSearchHits } from '../../../src/cli/server/api-types.ts'
import { request } from '../api.ts'
import { formatMoment, formatTime } from '../parts/format.ts'
import { report } from '../parts/notices.tsx'
import { route } from '../route.ts'
import { texts } from '../texts.ts'

const t = texts.search
const LIMIT = 30

type Found = { q: string; hits: readonly ApiSearchHit[]; hasMore: boolean }

/** What was said in all recordings; the address holds the question, so that it can be shared. */
export function SearchPage(): JSX.Element {
  const asked = route.value[1] ?? ''
  const [found, setFound] = useState<Found>()
  const latest = useRef('')
  latest.current = asked
  async function load(offset: number): Promise<void> {
    const query = new URLSearchParams({ q: asked, offset: String(offset), limit: String(LIMIT) })
    const { items, next } = await request<ApiSearchHits>(`v2/search?${query}`)
    if (latest.current !== asked) return
    setFound((before) => ({
      q: asked,
      hits: offset > 0 && before ? [...before.hits, ...items] : items,
      hasMore: next !== null,
    }))
  }
  useEffect(() => {
    setFound(undefined)
    if (asked) load(0).catch(report)
  }, [asked])
  return (
    <>
      <h1>{t.title}</h1>
      <Question asked={asked} />
      <div role="status">{asked && !found && texts.loading}</div>
      {found?.hits.length === 0 && <p class="empty">{t.none}</p>}
      {found && found.hits.length > 0 && <Hits hits={found.hits} />}
      {found?.hasMore && (
        <p class="row center">
          <button type="button" onClick={() => load(found.hits.length).catch(report)}>
            {t.more}
          </button>
        </p>
      )}
    </>
  )
}

function Question({ asked }: { asked: string }): JSX.Element {
  return (
    <search>
      <form
        class="row filters"
        onSubmit={(event) => {
          event.preventDefault()
          const q = String(new FormData(event.currentTarget).get('q')).trim()
          if (q) location.hash = `#/search/${encodeURIComponent(q)}`
        }}
      >
        <label class="grow">
          {t.question}
          <input type="search" name="q" maxLength={500} defaultValue={asked} key={asked} required />
        </label>
        <button type="submit" class="primary">
          {t.submit}
        </button>
      </form>
      <p class="hint">{t.hint}</p>
    </search>
  )
}

/** The hits, those of one recording together. */
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
  // They come latest first; people read a recording from its beginning.
  const inOrder = [...hits].sort((a, b) => a.start - b.start)
  return (
    <section class="card">
      <h2>
        <a href={`#/${job.kind}/${job.id}`}>
          <bdi>{job.filename ?? texts.recordings.kind[job.kind]}</bdi>
        </a>
      </h2>
      <p class="hint">{formatMoment(job.created_at)}</p>
      <ul class="hits">
        {inOrder.map((hit) => (
          <Hit key={`${hit.start} ${hit.channel}`} hit={hit} />
        ))}
      </ul>
    </section>
  )
}

function Hit({ hit }: { hit: ApiSearchHit }): JSX.Element {
  const { job, start, language, before, after } = hit
  return (
    <li>
      <a
        class="time"
        href={`#/${job.kind}/${job.id}/${start}`}
        aria-label={texts.reader.jump(formatTime(start))}
      >
        {formatTime(start)}
      </a>
      <p dir="auto" lang={language}>
        {before && <span class="context">{before} </span>}
        <Marked hit={hit} />
        {after && <span class="context"> {after}</span>}
      </p>
    </li>
  )
}

/** The text with the words that were asked for marked. */
function Marked({ hit: { text, highlights } }: { hit: ApiSearchHit }): JSX.Element {
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
