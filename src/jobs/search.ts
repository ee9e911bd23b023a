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
  /** The name that a user gave to the speaker. */
  speakerName?: string | undefined
}

/** An utterance that matches; `highlights` are ranges of its text, in UTF-16 code units. */
export type HighlightedHit = SearchHit & { highlights: [start: number, end: number][] }

/** Maximum languages in which the words of a query are stemmed. */
const MAX_LANGUAGES = 10

/**
 * Finds utterances in the finished jobs of an account, the latest job first. `more` states whether
 * another page follows. Fails with `request_invalid` if the query contains no word.
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
  const restrictedQuery = speakerName === undefined ? query : restrictToSpeaker(speakerName, query)
  const hasLanguage = language === undefined || indexedLanguages.includes(language)
  if (!restrictedQuery || !hasLanguage) return { hits: [], more: false }
  const { hits, more } = await searchUtterances(db, { ...filter, query: restrictedQuery }, page)
  const highlighted = hits.map(async (hit) => {
    const { text, language } = hit
    return { ...hit, highlights: await findHighlights(text, { query, language }) }
  })
  return { hits: await Promise.all(highlighted), more }
}

/**
 * Restricts a query to the words of a named speaker; undefined if no speaker can have that name.
 */
function restrictToSpeaker(name: string, query: ParsedQuery): ParsedQuery | undefined {
  const term = toNameTerm(name)
  if (term === undefined) return undefined
  const phrase = { terms: [term], isPrefix: false }
  return query.map(({ must, not }) => ({ must: [...must, phrase], not }))
}
