import type { AudioFormat } from '../../audio/audio-format.ts'
import { acknowledgment } from '../input/acknowledgment.ts'
import { mustArrive, someAck } from '../messages/message-outbox.ts'
import {
  type Routing,
  readMessage,
  type ServerMessage,
  type TextMessage,
} from '../messages/server-messages.ts'
import { type ChunkRecord, readRecord } from '../recovery/session-log.ts'
import { sentAtEnd } from '../result/result-messages.ts'

/** A message that the callback of a session is to have. */
export type SelectedMessage = {
  type: string
  /** The text as a client is sent it. */
  text(): string
  /** It may be left out when too many wait: partials, acknowledgements, speech events. */
  isPassing: boolean
  /** It goes out when the job has ended. */
  isAtEnd: boolean
}

/** What a line of a session's log tells the callback, and the chunk that it tells of. */
export type LogReading = { message?: SelectedMessage; chunk?: ChunkRecord }

/** Whose messages are selected, and which. */
export type SelectionOptions = { sessionId: string; format: AudioFormat; routing: Routing }

/**
 * Makes what tells the messages for the callback out of a session's log, one line at a time; `before` is
 * the chunk before the line, from which its acknowledgement goes on.
 */
export function createSelection(
  options: SelectionOptions,
): (line: string, before: ChunkRecord) => LogReading {
  const { routing } = options
  const hasAcks = routing.isForCallback(someAck)
  return (line, before) => {
    // There may be half a million chunks.
    if (line.startsWith('chunk ') ? !hasAcks : !line.startsWith('message ')) return {}
    const record = readRecord(line)
    if (record.kind === 'chunk') {
      const { chunk } = record
      // One that was acknowledged in another way stands in the log as a message.
      if (chunk.isPart) return { chunk }
      const text = () => acknowledgment({ before, chunk }, options)
      return { chunk, message: { type: 'audio_chunk', text, isPassing: true, isAtEnd: false } }
    }
    if (record.kind !== 'message') return {}
    const { text } = record
    const message = readMessage(text)
    if (!routing.isForCallback(message)) return {}
    const { type } = message
    const [isPassing, isAtEnd] = [passes(message), sentAtEnd.test(text)]
    return { message: { type, text: () => text, isPassing, isAtEnd } }
  }
}

function passes(message: ServerMessage | TextMessage): boolean {
  const { type } = message
  return !mustArrive(message) || type === 'speech_start' || type === 'speech_end'
}
