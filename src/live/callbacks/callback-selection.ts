import type { AudioFormat } from '../../audio/audio-format.ts'
import { chunkAcknowledgment } from '../input/acknowledgment.ts'
import { type ChunkRecord, parseLogRecord, recordKindOf } from '../journal/log-records.ts'
import {
  ackHead,
  isReliable,
  isSentAtEnd,
  type MessageHead,
  type Routing,
} from '../messages/server-messages.ts'

/** A message selected for the callback of a session. */
export type SelectedMessage = {
  type: string
  /** The text as it is sent to a client. */
  text(): string
  /** Whether it may be dropped when too many wait: partials, acknowledgments, speech events. */
  isDroppable: boolean
  /** Whether it is sent only after the job has ended. */
  isAtEnd: boolean
}

/** What a log line contains: a message for the callback, and the chunk that the line records. */
export type SelectedLine = { message?: SelectedMessage; chunk?: ChunkRecord }

/** The session whose messages are selected, and its routing. */
export type CallbackSelectionOptions = { sessionId: string; format: AudioFormat; routing: Routing }

/**
 * Creates a function that extracts the messages for the callback from a session's log, one line at
 * a time; `before` is the chunk before the line, at which its acknowledgment starts.
 */
export function createCallbackSelection(
  options: CallbackSelectionOptions,
): (line: string, before: ChunkRecord) => SelectedLine {
  const { routing } = options
  const hasAcks = routing.isForCallback(ackHead)
  return (line, before) => {
    // A log may hold half a million chunks: they are parsed only where acknowledgments are
    // selected.
    const kind = recordKindOf(line)
    if (kind === 'chunk' ? !hasAcks : kind !== 'message') return {}
    const record = parseLogRecord(line)
    if (record.kind === 'chunk') {
      const { chunk } = record
      // The acknowledgment of such a chunk is a message of its own in the log.
      if (chunk.isPart) return { chunk }
      const text = () => chunkAcknowledgment({ before, chunk }, options)
      return { chunk, message: { type: 'audio_chunk', text, isDroppable: true, isAtEnd: false } }
    }
    if (record.kind !== 'message') return {}
    const { head, text } = record
    if (!routing.isForCallback(head)) return {}
    const [isDroppable, isAtEnd] = [mayDrop(head), isSentAtEnd(head)]
    return { message: { type: head.type, text: () => text, isDroppable, isAtEnd } }
  }
}

function mayDrop(head: MessageHead): boolean {
  return !isReliable(head) || head.type === 'speech_start' || head.type === 'speech_end'
}
