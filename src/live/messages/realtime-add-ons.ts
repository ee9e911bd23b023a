import type { SessionText } from '../../text/live/live-text.ts'
import type { Envelope } from '../../text/result/envelope.ts'
import { notConfigured } from '../../text/result/not-configured.ts'
import type { AddOnData, RealtimeAddOn, ServerMessage } from './server-messages.ts'
import type { UtteranceView } from './utterance-view.ts'

/** `realtime_processing` and `post_processing` of a session, as far as they ask for add-ons. */
export type AddOnParams = {
  realtime_processing: {
    custom_vocabulary?: boolean
    custom_vocabulary_config?: Readonly<Record<string, unknown>>
    custom_spelling?: boolean
    custom_spelling_config?: Readonly<Record<string, unknown>>
    translation: boolean
    translation_config?: { target_languages: readonly string[] }
    named_entity_recognition: boolean
    sentiment_analysis: boolean
  }
  post_processing: {
    summarization: boolean
    summarization_config?: Readonly<Record<string, unknown>>
  }
}

/** A final utterance, and the session that must not have ended. */
export type AddOnInput = { id: string; utterance: UtteranceView; signal: AbortSignal }

/** What the add-ons answered on one utterance; those without an engine are not among them. */
export type AddOnResults = Partial<Record<RealtimeAddOn, Envelope>>

/**
 * Works on one final utterance: `run` finds something, or says why it could not, and `tell` makes the messages
 * of that. One that has nothing to find has no `run`.
 */
export type RealtimeHook = {
  type: RealtimeAddOn
  run?(input: AddOnInput): Promise<Envelope>
  tell(envelope: Envelope | undefined, input: Omit<AddOnInput, 'signal'>): ServerMessage[]
}

/** The add-ons that a session asked for, to be run on each of its final utterances. */
export function realtimeHooks(
  { realtime_processing: asked }: AddOnParams,
  text: Pick<SessionText, 'find'>,
): RealtimeHook[] {
  const languages = asked.translation_config?.target_languages ?? []
  return [
    ...(asked.translation ? [missing('translation', languages.length)] : []),
    ...(asked.named_entity_recognition ? [finding('named_entity_recognition', text)] : []),
    ...(asked.sentiment_analysis ? [finding('sentiment_analysis', text)] : []),
  ]
}

type FoundResults = Extract<AddOnData, { results: unknown }>['results']

/** Tells of every utterance, also when nothing was found in it: whoever waits for an answer gets one. */
function finding(
  type: 'named_entity_recognition' | 'sentiment_analysis',
  text: Pick<SessionText, 'find'>,
): RealtimeHook {
  return {
    type,
    run: ({ utterance, signal }) => text.find(type, JSON.stringify([utterance]), { signal }),
    tell(envelope, { id, utterance }) {
      const { error, results } = envelope!
      if (error) return [{ type, error, data: null }]
      const data = { utterance_id: id, utterance, results: results as FoundResults }
      return [{ type, error: null, data }]
    },
  }
}

/** Stands for an add-on that this version has not; it answers so many times. */
function missing(type: RealtimeAddOn, times: number): RealtimeHook {
  const { error } = notConfigured(type)
  return { type, tell: () => Array.from({ length: times }, () => ({ type, error, data: null })) }
}

/** Whether add-ons answer on each final utterance of a session. */
export function hasRealtimeAddOns({ realtime_processing: asked }: AddOnParams): boolean {
  return asked.translation || asked.named_entity_recognition || asked.sentiment_analysis
}

/** What is asked of the texts of a session, as of those of a recorded job. */
export function textParams({
  realtime_processing,
  post_processing,
}: AddOnParams): Readonly<Record<string, unknown>> {
  return { ...realtime_processing, ...post_processing }
}

/** The message about the summary of the session. */
export function summaryMessage({ error, results }: Envelope): ServerMessage {
  const data = error ? null : { results: String(results) }
  return { type: 'post_summarization', error, data }
}
