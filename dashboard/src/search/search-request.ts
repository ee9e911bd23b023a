import { addJobFilter, anyJob, type JobFilter } from '../components/job-filter.tsx'

/** The search terms and the filters; an empty field matches all. */
export type SearchRequest = JobFilter & { q: string; language: string; speaker: string }

const filterNames = Object.keys(anyJob) as (keyof JobFilter)[]
const names = [...filterNames, 'language', 'speaker'] as const

/** Reads the query of the address after `#/search`: the search terms and the filters. */
export function readRequest(q: string, query: string): SearchRequest {
  const parameters = new URLSearchParams(query)
  const fields = names.map((name) => [name, parameters.get(name) ?? ''])
  return { q, ...(Object.fromEntries(fields) as Omit<SearchRequest, 'q'>) }
}

/** Returns the address of a search, which can be shared; the same search has the same address. */
export function addressOfSearch(request: SearchRequest): string {
  const set = names.flatMap((name) => (request[name] ? [[name, request[name]]] : []))
  const query = new URLSearchParams(set).toString()
  return `#/search/${encodeURIComponent(request.q)}${query && `?${query}`}`
}

/** Returns whether filters limit the search to some recordings. */
export function isFiltered({ q: _, ...filters }: SearchRequest): boolean {
  return Object.values(filters).some((value) => value !== '')
}

/** Returns the query of the API. */
export function toQuery(request: SearchRequest, part: { offset: number; limit: number }): string {
  const { q, language, speaker } = request
  const query = new URLSearchParams({ q })
  query.set('offset', String(part.offset))
  query.set('limit', String(part.limit))
  if (language) query.set('language', language)
  // People count speakers from 1, as transcripts do.
  if (/^[1-9]\d{0,5}$/.test(speaker)) query.set('speaker', String(Number(speaker) - 1))
  else if (speaker) query.set('speaker_name', speaker)
  addJobFilter(query, request)
  return query.toString()
}

/** Returns search terms that match the words only in this order. */
export function asPhrase(q: string): string {
  return q.includes('"') ? q : `"${q.trim()}"`
}
