import { notConfigured } from '../text/not-configured.ts'
import type { RealtimeAddOn, ServerMessage } from './messages.ts'
import type { UtteranceView } from './views.ts'

/** `realtime_processing` and `post_processing` of a session, as far as they ask for add-ons. */
export type AddOnParams = {
  realtime_processing: {
    translation: boolean
    translation_config?: { target_languages: readonly string[] }
    named_entity_recognition: boolean
    sentiment_analysis: boolean
  }
  post_processing: { summarization: boolean }
}

/** A final utterance, and the session that must not have ended. */
export type AddOnInput = { id: string; utterance: UtteranceView; signal: AbortSignal }

/** Works on one final utterance; `run` tells what it found, or why it could not, in messages. */
export type RealtimeHook = {
  type: RealtimeAddOn
  run(input: AddOnInput): Promise<ServerMessage[]>
}

/** The add-ons that a session asked for, to be run on each of its final utterances. */
export function realtimeHooks({ realtime_processing: asked }: AddOnParams): RealtimeHook[] {
  const languages = asked.translation_config?.target_languages ?? []
  return [
    ...(asked.translation ? languages.map(() => missing('translation')) : []),
    ...(asked.named_entity_recognition ? [missing('named_entity_recognition')] : []),
    ...(asked.sentiment_analysis ? [missing('sentiment_analysis')] : []),
  ]
}

/** Stands for an add-on that this version has not. */
function missing(type: RealtimeAddOn): RealtimeHook {
  const { error } = notConfigured(type)
  return { type, run: async () => [{ type, error, data: null }] }
}

/** The message about the summary of the session, if one was asked for. */
export function summaryMessage({ post_processing }: AddOnParams): ServerMessage | undefined {
  if (!post_processing.summarization) return undefined
  return { type: 'post_summarization', error: notConfigured('summarization').error, data: null }
}

/** The switches of a session as those of a recorded job: their answers in the result are the same. */
export function resultSwitches(params: AddOnParams): Record<string, unknown> {
  const { translation, named_entity_recognition, sentiment_analysis } = params.realtime_processing
  const { summarization } = params.post_processing
  return { translation, named_entity_recognition, sentiment_analysis, summarization }
}
