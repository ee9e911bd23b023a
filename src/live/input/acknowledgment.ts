import type { AudioFormat } from '../../audio/audio-format.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { ChunkRecord } from '../journal/log-records.ts'
import { writeMessage } from '../messages/server-messages.ts'
import { secondsOfAudio } from './format-params.ts'

/**
 * Returns the text that acknowledged a chunk; it need not be stored, since the chunk determines it.
 */
export function acknowledgment(
  { before, chunk }: { before: ChunkRecord; chunk: ChunkRecord },
  { sessionId, format }: { sessionId: string; format: AudioFormat },
): string {
  return acknowledgmentOf(
    {
      byteRange: [before.received, chunk.received],
      timeRange: [secondsOfAudio(before.audio, format), secondsOfAudio(chunk.audio, format)],
    },
    { sessionId, at: chunk.at },
  )
}

/**
 * Returns the text that acknowledges some bytes, as half-open ranges in bytes and seconds of the
 * session.
 */
export function acknowledgmentOf(
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
