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

/** A message selected for the callback of a session. */
export type SelectedMessage = {
  type: string
  /** The text as it is sent to a client. */
  text(): string
  /** Whether it may be dropped when too many wait: partials, acknowledgments, speech events. */
  isPassing: boolean
  /** Whether it is sent when the job has ended. */
  isAtEnd: boolean
}

/** The content of a log line for the callback, and the chunk that it records. */
export type LogReading = { message?: SelectedMessage; chunk?: ChunkRecord }

/** The session whose messages are selected, and its routing. */
export type SelectionOptions = { sessionId: string; format: AudioFormat; routing: Routing }

/**
 * Creates a function that extracts the messages for the callback from a session's log, one line at
 * a time; `before` is the chunk before the line, at which its acknowledgment starts.
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
      // A chunk with a different acknowledgment has that in the log as a message.
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
