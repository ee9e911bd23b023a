import type { AudioFormat } from '../../audio/audio-format.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { ChunkRecord } from '../journal/log-records.ts'
import { writeMessage } from '../messages/server-messages.ts'
import { secondsOfAudio } from './session-format.ts'

/**
 * Returns the message that acknowledges a chunk, as JSON text; `before` is the chunk before it. The
 * log does not store this text, since the chunks determine it.
 */
export function chunkAcknowledgment(
  { before, chunk }: { before: ChunkRecord; chunk: ChunkRecord },
  { sessionId, format }: { sessionId: string; format: AudioFormat },
): string {
  return rangeAcknowledgment(
    {
      byteRange: [before.received, chunk.received],
      timeRange: [secondsOfAudio(before.audio, format), secondsOfAudio(chunk.audio, format)],
    },
    { sessionId, at: chunk.at },
  )
}

/**
 * Returns the message that acknowledges some bytes, as JSON text; the ranges are half-open, in
 * bytes and in seconds of the session. `at` is in milliseconds since 1970.
 */
export function rangeAcknowledgment(
  { byteRange, timeRange }: { byteRange: [number, number]; timeRange: [number, number] },
  { sessionId, at }: { sessionId: string; at: number },
): string {
  const [from, to] = timeRange
  const time_range: [number, number] = [roundTo(from, 6), roundTo(to, 6)]
  return writeMessage(
    {
      type: 'audio_chunk',
      acknowledged: true,
      error: null,
      data: { byte_range: byteRange, time_range },
    },
    { sessionId, at },
  )
}
