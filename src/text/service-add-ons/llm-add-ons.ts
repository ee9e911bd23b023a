import { sum } from '../../numbers.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { plainTranscript } from './plain-transcript.ts'
import { asLlmResponse, llmResponseText, requireOne, responseError } from './responses.ts'
import type { ServiceAddOn, ServiceRequest } from './service-add-on.ts'
import { findSources, quotesIn } from './sources.ts'

/** The service that answers these requests; see `app/language-model.ts`. */
const service = 'language model'

function llmRequest(
  task: string,
  fields: Omit<ServiceRequest, 'service' | 'model'>,
): ServiceRequest {
  return { service, model: 'configured', task, ...fields }
}

type Prompt = string | readonly string[]

/** Answers the prompts of a user, one by one. */
export const audioToLlm: ServiceAddOn = {
  name: 'audio_to_llm',
  languages: 'all',
  prepare(transcript, params) {
    const text = plainTranscript(transcript)
    const { model } = (params.audio_to_llm_config ?? {}) as { model?: string }
    // Without speech, a model would invent an answer.
    if (text === '') return []
    return promptsOf(params).map((prompt) => ({
      ...llmRequest('prompt', { prompt, text }),
      ...(model !== undefined && { model }),
    }))
  },
  merge(transcript, params, responses) {
    const read = responses.map(asLlmResponse)
    requireOne(read)
    const results = promptsOf(params).map((prompt, i) => {
      const given = read[i]
      const error = (given && responseError(given)) ?? null
      const response = error || !given ? null : llmResponseText(given)
      return {
        success: error === null,
        is_empty: !response,
        exec_time: secondsOf(given),
        error,
        results: { prompt, response },
        sources: findSources(transcript, quotesIn(response ?? '')),
      }
    })
    return { results, isEmpty: results.every(({ is_empty }) => is_empty) }
  },
  totalSeconds(responses) {
    return sum(responses.map(secondsOf))
  },
}

function secondsOf(response: unknown): number {
  const { seconds = 0 } = (response ?? {}) as { seconds?: number }
  return seconds
}

function promptsOf(params: Readonly<Record<string, unknown>>): string[] {
  const { prompts = [] } = (params.audio_to_llm_config ?? {}) as { prompts?: readonly Prompt[] }
  return prompts.map((prompt) => (typeof prompt === 'string' ? prompt : prompt.join('\n')))
}

/** Summarizes with a model; without one, `add-ons/summarization.ts` selects sentences. */
export const summarization: ServiceAddOn = {
  name: 'summarization',
  languages: 'all',
  prepare(transcript, params) {
    const text = plainTranscript(transcript)
    const { type = 'general' } = (params.summarization_config ?? {}) as { type?: string }
    return text === '' ? [] : [llmRequest('summary', { style: type, text })]
  },
  merge(_transcript, _params, [answer]) {
    const summary = answer === undefined ? '' : llmResponseText(asLlmResponse(answer))
    return { results: summary, isEmpty: summary === '' }
  },
}

/** Extracts the values of the classes that the user names, as the JSON text of an object. */
export const structuredData: ServiceAddOn = {
  name: 'structured_data_extraction',
  languages: 'all',
  prepare(transcript, params) {
    const text = plainTranscript(transcript)
    const classes = classesOf(params)
    if (classes.length === 0) {
      const message = 'structured_data_extraction_config.classes names no classes'
      throw new AddOnFailedError({ status_code: 422, exception: 'NothingRequested', message })
    }
    return text === '' ? [] : [llmRequest('extraction', { classes, text })]
  },
  merge(transcript, params, [given]) {
    const empty = Object.fromEntries(classesOf(params).map((name) => [name, []]))
    if (given === undefined) return { results: JSON.stringify(empty), isEmpty: true }
    const response = asLlmResponse(given)
    requireOne([response])
    const values = (response as { values?: Record<string, string[]> }).values ?? empty
    const extractedTexts = Object.values(values).flat()
    const sources = findSources(transcript, extractedTexts)
    return { results: JSON.stringify(values), isEmpty: extractedTexts.length === 0, sources }
  },
}

function classesOf(params: Readonly<Record<string, unknown>>): string[] {
  const config = (params.structured_data_extraction_config ?? {}) as { classes?: string[] }
  return config.classes ?? []
}
