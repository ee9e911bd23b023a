import { secondsSince } from '../../clock.ts'
import { type Envelope, failedEnvelope, timeoutError } from '../../text/result/steps/envelope.ts'
import {
  mergeServiceAddOn,
  prepareServiceAddOn,
} from '../../text/result/steps/run-service-add-on.ts'
import { responseUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import { transcriptOf } from '../../text/result/transcript-result.ts'
import { audioToLlm, summarization } from '../../text/service-add-ons/llm-add-ons.ts'
import type {
  ServiceAddOn,
  ServiceCallOptions,
  Services,
} from '../../text/service-add-ons/service-add-on.ts'
import { translation } from '../../text/service-add-ons/translation.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** The response of an add-on, with the tokens that language models used for it. */
export type ServiceEnvelope = Envelope & { usage?: TokenUsage }

/** Computes a part of a response, or returns the stored response to an identical request. */
export type MemoizeResponse = ServiceCallOptions['memoize']

/** Options of a call: `signal` aborts when the session is suspended, `memoize` stores responses. */
export type SessionCallOptions = { signal: AbortSignal; memoize: MemoizeResponse }

/** The add-ons of one session that services answer. They reject only when aborted. */
export type SessionServices = {
  /** Translates a final utterance into all target languages; `results` has one entry for each. */
  translate(utterance: UtteranceView, options: SessionCallOptions): Promise<ServiceEnvelope>
  /** Translates a partial, with a shorter timeout. */
  translatePartial(utterance: UtteranceView, signal: AbortSignal): Promise<ServiceEnvelope>
  /** Summarizes a session; absent without a service for it. */
  summarize?(
    utterances: readonly UtteranceText[],
    options: SessionCallOptions,
  ): Promise<ServiceEnvelope>
  /** Answers the prompts about a session; absent without a service for it. */
  answerPrompts?(
    utterances: readonly UtteranceText[],
    options: SessionCallOptions,
  ): Promise<ServiceEnvelope>
}

/** The input of a summary: an utterance without its words. */
type UtteranceText = Pick<UtteranceView, 'start' | 'end' | 'channel' | 'language' | 'text'>

/** A session on whose behalf services are called. */
export type ServiceSession = {
  id: string
  account: string
  params: Readonly<Record<string, unknown>>
}

/** Seconds that the translation of a final may take; later, readers no longer need it. */
const TRANSLATION_LIMIT = 20
/** Seconds that the translation of a partial may take; later, there are newer partials. */
const PARTIAL_LIMIT = 5
/**
 * Seconds that each add-on may take at the end of a session; each request has its own limit.
 */
const END_LIMIT = 600

/**
 * Runs the service add-ons of a session; `limits` are in seconds, and for tests. At the limit of an
 * add-on, its requests without a response fail; the others count.
 */
export function createSessionServices(
  services: Services,
  { id: job, account, params }: ServiceSession,
  limits = { translation: TRANSLATION_LIMIT, partial: PARTIAL_LIMIT, atEnd: END_LIMIT },
): SessionServices {
  async function run(
    addOn: ServiceAddOn,
    transcript: Transcript,
    { signal, memoize, seconds }: SessionCallOptions & { seconds: number },
  ): Promise<ServiceEnvelope> {
    const { name } = addOn
    const options = {
      params,
      format: 'native',
      failedSteps: {},
      now: () => performance.now(),
    } as const
    const prepared = prepareServiceAddOn(addOn, transcript, options)
    if ('error' in prepared) return failedEnvelope(name, prepared.error)
    const startedAt = performance.now()
    const limit = AbortSignal.timeout(seconds * 1000)
    const call = { account, job, signal: AbortSignal.any([signal, limit]), memoize }
    const responses = await Promise.all(
      prepared.requests.map(async (request) => {
        try {
          return await services.call(request, call)
        } catch (error) {
          signal.throwIfAborted()
          if (!limit.aborted) throw error
          return { error: timeoutError(name, seconds) }
        }
      }),
    )
    const elapsedSeconds = secondsSince(startedAt)
    const envelope = mergeServiceAddOn(
      addOn,
      transcript,
      { name, responses, seconds: elapsedSeconds },
      options,
    )
    const usage = responseUsage(responses)
    return { ...envelope, ...(usage && { usage }) }
  }

  function atEnd(addOn: ServiceAddOn) {
    return (utterances: readonly UtteranceText[], options: SessionCallOptions) => {
      const transcript = { utterances: utterances.map(withRoughTimes) }
      return run(addOn, transcript, { ...options, seconds: limits.atEnd })
    }
  }

  return {
    translate: (utterance, options) => {
      const transcript = transcriptOf([utterance])
      return run(translation, transcript, { ...options, seconds: limits.translation })
    },
    translatePartial: (utterance, signal) => {
      // Responses for partials are not logged: after a crash, there are new partials.
      const options = { signal, memoize: callThrough, seconds: limits.partial }
      return run(translation, transcriptOf([utterance]), options)
    },
    ...(services.addOns.summarization && { summarize: atEnd(summarization) }),
    ...(services.addOns.audio_to_llm && { answerPrompts: atEnd(audioToLlm) }),
  }
}

const callThrough: MemoizeResponse = (_part, make) => make()

/**
 * Returns the utterance with words that all have its times. Parsing the real words of hours of
 * speech would take long; add-ons need only their text, and the time of the utterance for the
 * sources of answers.
 */
function withRoughTimes({ text, start, end, ...utterance }: UtteranceText): Utterance {
  const words = text.trim().split(separatorOf(utterance.language))
  return { ...utterance, words: words.map((text) => ({ text, start, end, confidence: 1 })) }
}
