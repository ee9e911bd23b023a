import { AppError } from '../errors.ts'
import type { Db } from '../storage/database/db.ts'
import {
  type SearchFilter,
  type SearchHit,
  searchUtterances,
} from '../storage/search/search-utterances.ts'
import { listSearchLanguages } from '../storage/search/utterance-index.ts'
import { findHighlights, type ParsedQuery, parseSearchQuery } from '../text/search/search-query.ts'
import { toNameTerm } from '../text/search/search-words.ts'

/** A search: the words, and the jobs to search in. */
export type SearchRequest = Omit<SearchFilter, 'query'> & {
  q: string
  /** Who says it: the name that a person gave the speaker. */
  speakerName?: string | undefined
}

/** An utterance that was found; `highlights` are parts of its text, in UTF-16 code units. */
export type HighlightedHit = SearchHit & { highlights: [start: number, end: number][] }

/** Words of more languages are searched for as they are. */
const MAX_LANGUAGES = 10

/**
 * Finds what was said in finished jobs of an account, the latest job first. Fails with
 * `request_invalid` if it contains no word.
 */
export async function searchJobs(
  db: Db,
  { q, speakerName, ...filter }: SearchRequest,
  page: { offset: number; limit: number },
): Promise<{ hits: HighlightedHit[]; more: boolean }> {
  const { account, language } = filter
  const indexedLanguages = await listSearchLanguages(db, account)
  const languages = language === undefined ? indexedLanguages : [language]
  const query = await parseSearchQuery(q, languages.slice(0, MAX_LANGUAGES))
  if (!query) {
    const validationErrors = ['q must name at least one word that is searched for']
    throw new AppError('request_invalid', undefined, { validationErrors })
  }
  const restrictedQuery = speakerName === undefined ? query : saidBy(speakerName, query)
  const isSpoken = language === undefined || indexedLanguages.includes(language)
  if (!restrictedQuery || !isSpoken) return { hits: [], more: false }
  const { hits, more } = await searchUtterances(db, { ...filter, query: restrictedQuery }, page)
  const highlighted = hits.map(async (hit) => {
    const { text, language } = hit
    return { ...hit, highlights: await findHighlights(text, { query, language }) }
  })
  return { hits: await Promise.all(highlighted), more }
}

/**
 * Returns the query for the words of one named person; undefined if no speaker can have that name.
 */
function saidBy(name: string, query: ParsedQuery): ParsedQuery | undefined {
  const term = toNameTerm(name)
  if (term === undefined) return undefined
  const phrase = { terms: [term], isPrefix: false }
  return query.map(({ must, not }) => ({ must: [...must, phrase], not }))
}
