import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import type { App } from '../../../app/app-type.ts'
import { type HighlightedHit, searchJobs } from '../../../jobs/search.ts'
import { checkMetadataLength, periodOf } from '../../lists/list-query.ts'
import { pageUrls } from '../../lists/write-list.ts'
import { limitConcurrency } from '../../middleware/limit-concurrency.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { SearchHits, type SearchHitView, searchQuery } from '../../schemas/transcripts/search.ts'

const path = '/v2/search'

/** Finds what was said in the jobs of an account. An extension of the API. */
export function searchRoutes({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const runInTurn = limitConcurrency()
  return async (http) => {
    const schema = {
      tags: ['Search'],
      operationId: 'search',
      summary: 'Search what was said',
      description:
        'Finds utterances in finished recordings and sessions, newest first. A job becomes searchable some seconds after it ends. ' +
        'Words are found in their other forms too, in the language of the utterance, with or without accents.',
      querystring: searchQuery(config.models),
      response: { 200: SearchHits, ...errorResponses(400) },
    }
    http.get(path, { schema }, async ({ account, query, raw }) => {
      checkMetadataLength(query, config.requests)
      const { q, language, speaker, speaker_name: speakerName, offset } = query
      const { kind: kinds, custom_metadata: metadata } = query
      const limit = Math.min(query.limit, config.http.listMaxLimit)
      const search = { account, q, language, speaker, speakerName, kinds, metadata }
      const request = { ...search, ...periodOf(query) }
      const page = await runInTurn(account, () => searchJobs(db, request, { offset, limit }))
      const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
      return { ...urls, items: page.hits.map(toView) }
    })
  }
}

function toView({
  jobId,
  kind,
  createdAt,
  filename,
  start,
  end,
  ...hit
}: HighlightedHit): Static<typeof SearchHitView> {
  const {
    channel,
    speaker,
    speakerName: speaker_name,
    language,
    text,
    highlights,
    before,
    after,
  } = hit
  return {
    job: { id: jobId, kind, created_at: new Date(createdAt).toISOString(), filename },
    start,
    end,
    channel,
    speaker,
    speaker_name,
    language,
    text,
    highlights,
    before,
    after,
  }
}
