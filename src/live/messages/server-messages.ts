import type { NamedEntity } from '../../text/add-ons/entities.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** The reason for a failure, as messages report it. */
export type MessageError = { status_code: number; exception: string; message: string }

type SentimentOfSentence = {
  text: string
  sentiment: string
  emotion: string
  start: number
  end: number
}

/** The results of an add-on for an utterance, as its message reports them. */
export type AddOnData = {
  utterance_id: string
  utterance: UtteranceView
} & (
  | {
      original_language: string
      target_language: string
      translated_utterance: UtteranceView
      /** Present in sessions whose partials are translated, too. */
      is_final?: boolean
    }
  | { results: (NamedEntity | (SentimentOfSentence & { channel: number; speaker?: number }))[] }
)

/** The add-ons that process each final transcript. */
export type RealtimeAddOn = 'translation' | 'named_entity_recognition' | 'sentiment_analysis'

/** Every message from server to client, without the common fields. */
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
  | { type: 'post_audio_to_llm'; error: MessageError | null; data: { results: object[] } | null }
  | { type: 'error'; error: MessageError; data: { code: string; message: string } }

/** A message whose data is long JSON text that was built elsewhere. */
export type TextMessage = { type: 'post_transcript' | 'post_final_transcript'; text: string }

/**
 * The properties of a message that routing, order and limits depend on; they are known without
 * parsing its text. `partial` marks a transcript that may change, or its translation, `error` a
 * message that reports an error.
 */
export type MessageHead = {
  type: (ServerMessage | TextMessage)['type']
  variant?: 'partial' | 'error'
}

/** The head of an acknowledged chunk. */
export const ackHead: MessageHead = { type: 'audio_chunk' }
/** The head of a partial. */
export const partialHead: MessageHead = { type: 'transcript', variant: 'partial' }

/** Returns the head of a message. */
export function headOf(message: ServerMessage | TextMessage): MessageHead {
  const { type } = message
  if ('error' in message && message.error !== null) return { type, variant: 'error' }
  if (message.type === 'transcript') return message.data.is_final ? { type } : partialHead
  const isPartial = message.type === 'translation' && isPartialData(message.data)
  return isPartial ? { type, variant: 'partial' } : { type }
}

function isPartialData(data: AddOnData | null): boolean {
  return data !== null && 'is_final' in data && data.is_final === false
}

/**
 * Returns whether a client that reconnects gets this message: all but partials and acknowledgments.
 */
export function isReliable({ type, variant }: MessageHead): boolean {
  return type !== 'audio_chunk' && type !== 'stop_recording' && variant !== 'partial'
}

const wholeTranscriptTypes = new Set<string>(['post_transcript', 'post_final_transcript'])
const endTypes = new Set<string>(['post_final_transcript', 'end_session'])

/** Returns whether a message holds the whole transcript, whose text may be megabytes. */
export function holdsWholeTranscript({ type }: MessageHead): boolean {
  return wholeTranscriptTypes.has(type)
}

/**
 * Returns whether a message is logged before the result is stored, but sent afterwards: no client
 * receives it while the session is open, and it follows all other messages.
 */
export function isSentAtEnd({ type }: MessageHead): boolean {
  return endTypes.has(type)
}

/** The messages that a receiver selects: `messages_config` or `callback_config`. */
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

const flagsByType = {
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
  post_audio_to_llm: 'receive_post_processing_events',
  post_final_transcript: 'receive_post_processing_events',
  error: 'receive_errors',
} as const

/**
 * Returns the flag that selects a message. Messages that report an error depend on `receive_errors`
 * alone; translations of partials are selected as partials are.
 */
export function flagOf({ type, variant }: MessageHead): FlagName {
  if (variant === 'error') return 'receive_errors'
  if (variant === 'partial') return 'receive_partial_transcripts'
  return type === 'transcript' ? 'receive_final_transcripts' : flagsByType[type]
}

/** Decides to which receivers the messages of a session are sent. */
export type Routing = {
  isForSocket(message: MessageHead): boolean
  isForCallback(message: MessageHead): boolean
}

type RoutingParams = {
  messages_config: MessageFlags
  callback: boolean
  callback_config?: MessageFlags
}

/**
 * Reads the routing from a session's parameters. `start_session` is for callbacks only.
 */
export function routingOf({ messages_config, callback, callback_config }: RoutingParams): Routing {
  const callbackFlags = callback && callback_config ? callback_config : noFlags
  return {
    isForSocket: (message) => message.type !== 'start_session' && messages_config[flagOf(message)],
    isForCallback: (message) => callbackFlags[flagOf(message)],
  }
}

/** Returns the JSON text of a message, as it is sent. */
export function writeMessage(
  message: ServerMessage | TextMessage,
  { sessionId, at }: { sessionId: string; at: number },
): string {
  const { type, ...fields } = message
  const common = { type, session_id: sessionId, created_at: new Date(at).toISOString() }
  if (!('text' in message)) return JSON.stringify({ ...common, ...fields })
  return `${JSON.stringify(common).slice(0, -1)},"data":${message.text}}`
}

/**
 * Returns the `data` field in the text of a message, as JSON text: it follows the common fields,
 * whose length is constant for a type and session.
 */
export function dataOf(
  text: string,
  { type, sessionId }: { type: TextMessage['type']; sessionId: string },
): string {
  const empty = writeMessage({ type, text: '' }, { sessionId, at: 0 })
  return text.slice(empty.length - 1, -1)
}
