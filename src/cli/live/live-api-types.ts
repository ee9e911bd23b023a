// The messages of the server on the socket of a live session, with the fields that the commands
// read.
import type { ApiLiveResult, ApiUtterance } from '../client/api-types.ts'

/** A transcript of an utterance: its whole text so far, which is final if `is_final` is set. */
export type TranscriptMessage = {
  type: 'transcript'
  data: { id: string; is_final: boolean; utterance: ApiUtterance }
}

/** A translation of an utterance into one language. */
export type TranslationData = {
  utterance_id: string
  target_language: string
  translated_utterance: ApiUtterance
  /** Present only if translations of partials were requested. */
  is_final?: boolean
}

/** A message of the server. */
export type LiveMessage =
  | {
      type: 'audio_chunk' | 'stop_recording'
      acknowledged: boolean
      data: { byte_range?: [number, number] } | null
      error: { message: string } | null
    }
  | { type: 'speech_start' | 'speech_end'; data: { time: number; channel: number } }
  | TranscriptMessage
  | { type: 'translation'; data: TranslationData | null; error: { message: string } | null }
  | { type: 'post_final_transcript'; data: ApiLiveResult }
  | { type: 'error'; data: { code: string; message: string } }
  | { type: 'start_recording' | 'end_recording' | 'end_session' | 'post_transcript' }

/** The wire format of samples; the fields of `POST /v2/live`. */
export type LiveFormat = {
  encoding: 'wav/pcm' | 'wav/alaw' | 'wav/ulaw'
  bit_depth: 8 | 16 | 24 | 32
  sample_rate: number
  channels: number
}

/** Returns the bytes of one second of audio. */
export function bytesPerSecond({ bit_depth, sample_rate, channels }: LiveFormat): number {
  return (bit_depth / 8) * sample_rate * channels
}
