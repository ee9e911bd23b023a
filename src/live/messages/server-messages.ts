import type { UtteranceView } from './utterance-view.ts'

/** The reason for a failure, as messages report it (contract 5.5). */
export type MessageError = { status_code: number; exception: string; message: string }

type Named = { entity_type: string; text: string; start: number; end: number }
type Felt = { text: string; sentiment: string; emotion: string; start: number; end: number }

/** What an add-on found in an utterance, in the terms of its message. */
export type AddOnData = {
  utterance_id: string
  utterance: UtteranceView
} & (
  | { original_language: string; target_language: string; translated_utterance: UtteranceView }
  | { results: (Named | (Felt & { channel: number; speaker?: number }))[] }
)

/** The add-ons that process each final transcript. */
export type RealtimeAddOn = 'translation' | 'named_entity_recognition' | 'sentiment_analysis'

/** Every message from server to client, without the common fields (contract 5.5). */
export type ServerMessage =
  | { type: 'start_session' | 'start_recording' | 'end_session' }
  | { type: 'end_recording'; data: { recording_duration: number } }
  | {
      type: 'audio_chunk'
      acknowledged: boolean
      error: MessageError | null
      data: { byte_range: [number, number]; time_range: [number, number] } | null
    }
  | {
      type: 'stop_recording'
      acknowledged: boolean
      error: MessageError | null
      data: { recording_duration: number; recording_left_to_process: number } | null
    }
  | { type: 'speech_start' | 'speech_end'; data: { time: number; channel: number } }
  | {
      type: 'transcript'
      data: { id: string; is_final: boolean; utterance: UtteranceView }
    }
  | { type: RealtimeAddOn; error: MessageError | null; data: AddOnData | null }
  | { type: 'post_summarization'; error: MessageError | null; data: { results: string } | null }
  | { type: 'error'; error: MessageError; data: { code: string; message: string } }

/** A message whose data is long JSON text that was built elsewhere. */
export type TextMessage = { type: 'post_transcript' | 'post_final_transcript'; text: string }

/** Which messages go where: `messages_config` or `callback_config` (contract 5.1). */
export type MessageFlags = Record<FlagName, boolean>

const flagNames = [
  'receive_partial_transcripts',
  'receive_final_transcripts',
  'receive_speech_events',
  'receive_pre_processing_events',
  'receive_realtime_processing_events',
  'receive_post_processing_events',
  'receive_acknowledgments',
  'receive_errors',
  'receive_lifecycle_events',
] as const

type FlagName = (typeof flagNames)[number]

/** A flag set that selects nothing. */
const noFlags = Object.fromEntries(flagNames.map((name) => [name, false])) as MessageFlags

const familyFlags = {
  start_session: 'receive_lifecycle_events',
  start_recording: 'receive_lifecycle_events',
  end_recording: 'receive_lifecycle_events',
  end_session: 'receive_lifecycle_events',
  audio_chunk: 'receive_acknowledgments',
  stop_recording: 'receive_acknowledgments',
  speech_start: 'receive_speech_events',
  speech_end: 'receive_speech_events',
  translation: 'receive_realtime_processing_events',
  named_entity_recognition: 'receive_realtime_processing_events',
  sentiment_analysis: 'receive_realtime_processing_events',
  post_transcript: 'receive_post_processing_events',
  post_summarization: 'receive_post_processing_events',
  post_final_transcript: 'receive_post_processing_events',
  error: 'receive_errors',
} as const

/**
 * Returns the flag that selects a message: messages that report an error follow `receive_errors`
 * alone.
 */
export function flagOf(message: ServerMessage | TextMessage): FlagName {
  if ('error' in message && message.error !== null) return 'receive_errors'
  if (message.type !== 'transcript') return familyFlags[message.type]
  return message.data.is_final ? 'receive_final_transcripts' : 'receive_partial_transcripts'
}

/** Where the messages of a session go. */
export type Routing = {
  isForSocket(message: ServerMessage | TextMessage): boolean
  isForCallback(message: ServerMessage | TextMessage): boolean
}

type RoutingParams = {
  messages_config: MessageFlags
  callback: boolean
  callback_config?: MessageFlags
}

/**
 * Reads the routing from a session's parameters. `start_session` is for callbacks only (contract
 * 5.6).
 */
export function routingOf({ messages_config, callback, callback_config }: RoutingParams): Routing {
  const called = callback && callback_config ? callback_config : noFlags
  return {
    isForSocket: (message) => message.type !== 'start_session' && messages_config[flagOf(message)],
    isForCallback: (message) => called[flagOf(message)],
  }
}

/** Returns the JSON text of a message's data, which is the last of its fields. */
export function dataOf(text: string): string {
  const key = ',"data":'
  return text.slice(text.indexOf(key) + key.length, -1)
}

const longMessage = /^\{"type":"(post_transcript|post_final_transcript)"/

/** Parses the text of a message; of those that are megabytes long, only the type. */
export function readMessage(text: string): (ServerMessage & { created_at: string }) | TextMessage {
  const [, type] = longMessage.exec(text) ?? []
  if (type) return { type: type as TextMessage['type'], text }
  return JSON.parse(text) as ServerMessage & { created_at: string }
}

/** Returns the exact text of a message. */
export function writeMessage(
  message: ServerMessage | TextMessage,
  { sessionId, at }: { sessionId: string; at: number },
): string {
  const { type, ...rest } = message
  const common = { type, session_id: sessionId, created_at: new Date(at).toISOString() }
  if (!('text' in message)) return JSON.stringify({ ...common, ...rest })
  return `${JSON.stringify(common).slice(0, -1)},"data":${message.text}}`
}
