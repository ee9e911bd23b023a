import type { SessionText } from '../../text/live/session-text.ts'
import type { AddOnError, Envelope } from '../../text/result/steps/envelope.ts'
import { notConfiguredEnvelope } from '../../text/result/steps/not-configured.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import type { AddOnData, RealtimeAddOn, ServerMessage } from './server-messages.ts'
import type { ServiceEnvelope, SessionCallOptions, SessionServices } from './session-services.ts'

/** The fields of `translation_config` that are used here. */
type TranslationParams = { target_languages: readonly string[]; partials?: boolean }

/** The add-on parameters in `realtime_processing` and `post_processing` of a session. */
export type AddOnParams = {
  realtime_processing: {
    custom_vocabulary?: boolean
    custom_vocabulary_config?: Readonly<Record<string, unknown>>
    custom_spelling?: boolean
    custom_spelling_config?: Readonly<Record<string, unknown>>
    translation: boolean
    translation_config?: TranslationParams
    named_entity_recognition: boolean
    sentiment_analysis: boolean
  }
  post_processing: {
    summarization: boolean
    summarization_config?: Readonly<Record<string, unknown>>
    audio_to_llm?: boolean
    audio_to_llm_config?: Readonly<Record<string, unknown>>
  }
}

/** An utterance of a session. */
export type UtteranceWithId = { id: string; utterance: UtteranceView }

/** A final utterance, with the options of service calls for it. */
export type AddOnInput = UtteranceWithId & SessionCallOptions

/** The results of the add-ons for one utterance; those without an engine are absent. */
export type AddOnResults = Partial<Record<RealtimeAddOn, ServiceEnvelope>>

/**
 * Add-ons whose messages about an utterance are sent together: `own` ones run on this server, those
 * of `services` may take seconds.
 */
export type AddOnGroup = 'own' | 'services'

/**
 * A realtime add-on. `run` processes one final utterance and returns a result, or the reason for a
 * failure; `messages` builds the messages for it. The hook of an add-on without an engine has no
 * `run`.
 */
export type RealtimeHook = {
  type: RealtimeAddOn
  group: AddOnGroup
  run?(input: AddOnInput): Promise<ServiceEnvelope>
  messages(envelope: Envelope | undefined, utterance: UtteranceWithId): ServerMessage[]
}

/** Returns the add-ons that a session requested, to be run on each of its final utterances. */
export function realtimeHooks(
  { realtime_processing: requested }: AddOnParams,
  text: Pick<SessionText, 'runAddOn'>,
  services?: Pick<SessionServices, 'translate'>,
): RealtimeHook[] {
  const config = requested.translation_config ?? { target_languages: [] }
  const translationHook = services
    ? createTranslationHook(config, services)
    : createUnavailableHook('translation', config.target_languages)
  return [
    ...(requested.translation ? [translationHook] : []),
    ...(requested.named_entity_recognition
      ? [createTextHook('named_entity_recognition', text)]
      : []),
    ...(requested.sentiment_analysis ? [createTextHook('sentiment_analysis', text)] : []),
  ]
}

type ListResults = Extract<AddOnData, { results: unknown }>['results']

/**
 * Creates the hook of a text add-on. It answers every utterance, even without results, since
 * clients wait for a response.
 */
function createTextHook(
  type: 'named_entity_recognition' | 'sentiment_analysis',
  text: Pick<SessionText, 'runAddOn'>,
): RealtimeHook {
  return {
    type,
    group: 'own',
    run: ({ utterance, signal }) => text.runAddOn(type, JSON.stringify([utterance]), { signal }),
    messages(envelope, { id, utterance }) {
      const { error, results } = envelope!
      if (error) return [{ type, error, data: null }]
      const data = { utterance_id: id, utterance, results: results as ListResults }
      return [{ type, error: null, data }]
    },
  }
}

/** The translation of an utterance into one language, in the terms of the API. */
export type TranslatedUtterance = { error: AddOnError | null; utterances: UtteranceView[] }

/**
 * Creates the hook of the translation, which sends a message for each target language, in their
 * order.
 */
function createTranslationHook(
  config: TranslationParams,
  services: Pick<SessionServices, 'translate'>,
): RealtimeHook {
  return {
    type: 'translation',
    group: 'services',
    run: ({ utterance, ...options }) => services.translate(utterance, options),
    messages: (envelope, utterance) =>
      translationMessages(envelope!, utterance, { ...config, isFinal: true }),
  }
}

/** Returns the messages with the translations of a final utterance, or of a partial. */
export function translationMessages(
  envelope: Envelope,
  { id, utterance }: UtteranceWithId,
  { target_languages: targets, partials, isFinal }: TranslationParams & { isFinal: boolean },
): ServerMessage[] {
  const type = 'translation'
  const results = (envelope.results ?? []) as TranslatedUtterance[]
  return targets.map((target, i) => {
    const [translated] = results[i]?.utterances ?? []
    const error = envelope.error ?? results[i]?.error ?? null
    if (error || !translated) return { type, error, data: null }
    const data = {
      utterance_id: id,
      utterance,
      original_language: utterance.language,
      target_language: target,
      translated_utterance: withLeadingSpace(translated),
      ...(partials && { is_final: isFinal }),
    }
    return { type, error: null, data }
  })
}

/**
 * Adds the leading space to the first word of a translation: in live sessions, every word begins
 * with its space.
 */
export function withLeadingSpace(view: UtteranceView): UtteranceView {
  const space = separatorOf(view.language)
  const [first, ...laterWords] = view.words
  if (!first || space === '' || first.word.startsWith(space)) return view
  const words = [{ ...first, word: space + first.word }, ...laterWords]
  return { ...view, text: space + view.text, words }
}

/**
 * Creates the hook of an add-on that this server lacks; it answers once for each target language.
 */
function createUnavailableHook(type: RealtimeAddOn, targets: readonly string[]): RealtimeHook {
  const { error } = notConfiguredEnvelope(type)
  return { type, group: 'own', messages: () => targets.map(() => ({ type, error, data: null })) }
}

/** Returns the groups of add-ons that answer each final utterance of a session. */
export function addOnGroups(
  { realtime_processing: requested }: AddOnParams,
  { hasServices }: { hasServices: boolean },
): AddOnGroup[] {
  const { translation, named_entity_recognition, sentiment_analysis } = requested
  const isOwn = named_entity_recognition || sentiment_analysis || (translation && !hasServices)
  return [
    ...(isOwn ? ['own' as const] : []),
    ...(translation && hasServices ? ['services' as const] : []),
  ]
}

/** Returns the add-on parameters of a session in the form of those of a recorded job. */
export function textParams({
  realtime_processing,
  post_processing,
}: AddOnParams): Readonly<Record<string, unknown>> {
  return { ...realtime_processing, ...post_processing }
}

/** Returns the message about the summary of the session. */
export function summaryMessage({ error, results }: Envelope): ServerMessage {
  const data = error ? null : { results: String(results) }
  return { type: 'post_summarization', error, data }
}

/** Returns the message with the answers to the prompts about the session. */
export function answersMessage({ error, results }: Envelope): ServerMessage {
  const data = error ? null : { results: results as object[] }
  return { type: 'post_audio_to_llm', error, data }
}
