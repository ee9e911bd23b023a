import { type Chapter, extractChapters, topicsOf } from '../add-ons/chapters.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { asLlmResponse, responseError } from './responses.ts'
import type { ServiceAddOn } from './service-add-on.ts'

/**
 * Writes the texts of chapters with a model. Their boundaries are computed without it, so a model
 * cannot invent times. A chapter without a response has sentences of the transcript.
 */
export const chapters: ServiceAddOn = {
  name: 'chapters',
  languages: 'all',
  prepare(transcript) {
    return topicsOf(transcript).map((sentences) => {
      const text = sentences.map((sentence) => sentence.text).join('\n')
      return { service: 'language model', model: 'configured', task: 'chapter', text }
    })
  },
  merge(transcript, _params, responses) {
    const read = responses.map(asLlmResponse)
    const [failure] = read.map(responseError)
    if (failure && read.every(responseError)) throw new AddOnFailedError(failure)
    const results = extractChapters(transcript).map((extracted, i): Chapter => {
      const { headline, gist, summary, keywords } = (read[i] ?? {}) as Partial<Chapter>
      return {
        ...extracted,
        ...(headline && { headline }),
        ...(gist && { gist }),
        ...(summary && { summary }),
        ...(keywords && keywords.length > 0 && { keywords }),
      }
    })
    return { results, isEmpty: results.length === 0 }
  },
}
