/** A word in the messages of a live session. */
export type LiveWord = { word: string; start: number; end: number; confidence: number }
export type LiveUtterance = {
  start: number
  end: number
  confidence: number
  channel: number
  language: string
  text: string
  words: LiveWord[]
}

/** The error in a message. */
export type LiveError = { status_code: number; exception: string; message: string }

type Bodies = {
  start_recording: { data?: undefined }
  end_session: { data?: undefined }
  end_recording: { data: { recording_duration: number } }
  audio_chunk: Acknowledgment<{
    byte_range: [number, number]
    time_range: [number, number]
  }>
  stop_recording: Acknowledgment<{
    recording_duration: number
    recording_left_to_process: number
  }>
  speech_start: { data: { time: number; channel: number } }
  speech_end: { data: { time: number; channel: number } }
  transcript: { data: { id: string; is_final: boolean; utterance: LiveUtterance } }
  translation: AddonMessage
  named_entity_recognition: AddonMessage
  sentiment_analysis: AddonMessage
  post_transcript: { data: { full_transcript: string; utterances: LiveUtterance[] } }
  post_summarization: AddonMessage
  post_audio_to_llm: AddonMessage
  post_final_transcript: {
    data: {
      metadata: Record<string, number>
      transcription: { full_transcript: string; utterances: LiveUtterance[] }
    }
  }
  error: { data: { code: string; message: string }; error: LiveError }
}

type Acknowledgment<T> =
  | { acknowledged: true; error: null; data: T }
  | { acknowledged: false; error: LiveError; data: null }
type AddonMessage = { data: Record<string, unknown> | null; error: LiveError | null }

/** The `type` of a message. */
export type LiveType = keyof Bodies

/** A message of one type, as the API defines it. */
export type MessageOf<T extends LiveType> = {
  [K in T]: { type: K; session_id: string; created_at: string } & Bodies[K]
}[T]

/** Every message of a server over the socket of a live session. */
export type LiveMessage = MessageOf<LiveType>

/** Returns the messages of one type, in order. */
export function ofType<T extends LiveType>(
  messages: readonly LiveMessage[],
  type: T,
): MessageOf<T>[] {
  return messages.filter((message) => message.type === type) as MessageOf<T>[]
}

/** Returns the final transcripts, in order. */
export function finalsOf(messages: readonly LiveMessage[]): MessageOf<'transcript'>[] {
  return ofType(messages, 'transcript').filter((message) => message.data.is_final)
}

/** Returns the acknowledged ranges of audio bytes, in order. */
export function ackedRanges(messages: readonly LiveMessage[]): [number, number][] {
  return ofType(messages, 'audio_chunk').flatMap(({ data }) => (data ? [data.byte_range] : []))
}
