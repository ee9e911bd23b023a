// What the server says over the socket of a live session, as far as the commands read it.
import type { ApiJob, ApiResult, ApiUtterance } from '../server/api-types.ts'

/** A session that was created: where its socket is. */
export type CreatedSession = { id: string; url: string }

/** A session as a job; its result holds the messages that were sent, as texts. */
export type ApiLiveSession = Omit<ApiJob, 'result'> & {
  result: (ApiResult & { messages?: string[] }) | null
}

/** Text of an utterance: all of what is known of it, until `is_final` for good. */
export type TranscriptMessage = {
  type: 'transcript'
  data: { id: string; is_final: boolean; utterance: ApiUtterance }
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
  | { type: 'post_final_transcript'; data: ApiResult }
  | { type: 'error'; data: { code: string; message: string } }
  | { type: 'start_recording' | 'end_recording' | 'end_session' | 'post_transcript' }

/** How samples go over the wire; the fields of `POST /v2/live`. */
export type LiveFormat = {
  encoding: 'wav/pcm' | 'wav/alaw' | 'wav/ulaw'
  bit_depth: 8 | 16 | 24 | 32
  sample_rate: number
  channels: number
}

/** Bytes of one second of sound. */
export function bytesPerSecond({ bit_depth, sample_rate, channels }: LiveFormat): number {
  return (bit_depth / 8) * sample_rate * channels
}
