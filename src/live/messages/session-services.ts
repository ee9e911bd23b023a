import { type Envelope, failed, timedOut } from '../../text/result/envelope.ts'
import { transcriptOf } from '../../text/result/result-text.ts'
import { mergeServiceAddOn, prepareServiceAddOn } from '../../text/result/run-service-add-on.ts'
import { type Usage, usageOf } from '../../text/result/usage.ts'
import type { ServiceAddOn, Services } from '../../text/service-add-on.ts'
import { summarization } from '../../text/services/language-model.ts'
import { translation } from '../../text/services/translation.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** The answer of an add-on, with what language models took for it. */
export type ServiceEnvelope = Envelope & { usage?: Usage }

/** The add-ons of one session that services answer. They reject only when aborted. */
export type SessionServices = {
  /** Translates one utterance into all target languages; `results` has one entry for each. */
  translate(utterance: UtteranceView, signal: AbortSignal): Promise<ServiceEnvelope>
  /** Summarizes a session; absent without a service for it. */
  summarize?(utterances: readonly SpokenText[], signal: AbortSignal): Promise<ServiceEnvelope>
}

/** What a summary is made of: an utterance without its words. */
type SpokenText = Pick<UtteranceView, 'start' | 'end' | 'channel' | 'language' | 'text'>

/** A session on whose behalf services are called. */
export type ServiceSession = { account: string; params: Readonly<Record<string, unknown>> }

/** A translation that comes later is of no use to those who read along. Seconds. */
const TRANSLATION_LIMIT = 20
/** Bounds the end of a session; each request has a time limit of its own. Seconds. */
const SUMMARY_LIMIT = 600

/** Runs the service add-ons of a session; `limits` are in seconds, and for tests. */
export function createSessionServices(
  services: Services,
  { account, params }: ServiceSession,
  limits = { translation: TRANSLATION_LIMIT, summarization: SUMMARY_LIMIT },
): SessionServices {
  async function run(
    addOn: ServiceAddOn,
    transcript: Transcript,
    { signal, seconds }: { signal: AbortSignal; seconds: number },
  ): Promise<ServiceEnvelope> {
    const { name } = addOn
    const options = { params, form: 'native', given: {}, now: () => performance.now() } as const
    const prepared = prepareServiceAddOn(addOn, transcript, options)
    if ('error' in prepared) return failed(name, prepared.error)
    const startedAt = performance.now()
    const limit = AbortSignal.timeout(seconds * 1000)
    const call = {
      ...{ account, signal: AbortSignal.any([signal, limit]) },
      // What a killed process asked for is asked for again: nothing else of a session is asked twice.
      remember: <T>(_part: object, make: () => Promise<T>) => make(),
    }
    try {
      const answers = await Promise.all(prepared.requests.map((one) => services.call(one, call)))
      const taken = (performance.now() - startedAt) / 1000
      const envelope = mergeServiceAddOn(
        addOn,
        transcript,
        { name, answers, seconds: taken },
        options,
      )
      const usage = usageOf(answers)
      return { ...envelope, ...(usage && { usage }) }
    } catch (error) {
      signal.throwIfAborted()
      if (!limit.aborted) throw error
      return failed(name, timedOut(name, seconds), { seconds })
    }
  }

  return {
    translate: (utterance, signal) => {
      return run(translation, transcriptOf([utterance]), { signal, seconds: limits.translation })
    },
    ...(services.addOns.summarization && {
      summarize: (utterances, signal) => {
        const transcript = { utterances: utterances.map(asOneWord) }
        return run(summarization, transcript, { signal, seconds: limits.summarization })
      },
    }),
  }
}

/** The words of hours of speech would take long to read, and only their text is needed. */
function asOneWord({ text, start, end, ...utterance }: SpokenText): Utterance {
  return { ...utterance, words: [{ text, start, end, confidence: 1 }] }
}
