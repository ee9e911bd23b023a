import type { AudioFormat } from '../../audio/audio-format.ts'
import { acknowledgment } from '../input/acknowledgment.ts'
import {
  type ChunkRecord,
  type LogRecord,
  type ReadLog,
  readRecord,
} from '../recovery/session-log.ts'

/** Which messages are kept, and how chunks were acknowledged. */
export type MessagesOptions = {
  sessionId: string
  format: AudioFormat
  /** Whether acknowledgements were sent. */
  hasAcks: boolean
  /** Beyond this, acknowledgements are left out, oldest first, then other messages. */
  maxMessages: number
  /** Likewise their bytes, but for the two that hold the whole transcript. */
  maxMessageBytes?: number
}

/**
 * A result with all that was sent as its last key, in pieces, none of which ends within a character: the
 * messages are never in memory as a whole.
 */
export async function* withMessages(
  whole: string,
  readLog: ReadLog,
  options: MessagesOptions,
): AsyncGenerator<string> {
  yield* inChunks(whole.slice(0, -1))
  yield ',"messages":['
  let isFirst = true
  for await (const messages of keptMessages(readLog, options)) {
    let text = ''
    for (const message of messages) {
      if (!isFirst) text += ','
      isFirst = false
      if (message.length < LONG) {
        text += JSON.stringify(message)
      } else {
        yield text
        text = ''
        yield* writeLong(message)
      }
    }
    yield text
  }
  yield ']}'
}

/** Longer texts are handled piece by piece, so that the loop is free in between. */
const LONG = 64 * 1024

function* writeLong(text: string): Generator<string> {
  yield '"'
  for (const piece of inChunks(text)) yield JSON.stringify(piece).slice(1, -1)
  yield '"'
}

/** A text in pieces, none of which ends within a character. */
export function* inChunks(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + LONG - 1)
    const isPair = last >= 0xd800 && last < 0xdc00
    const end = at + LONG + (isPair ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** A text that is sent when the result is stored, hence behind whatever was noted meanwhile. */
export const sentAtEnd = /^\{"type":"(post_final_transcript|end_session)"/

/** What was sent, in that order, some messages at a time. */
async function* keptMessages(readLog: ReadLog, options: MessagesOptions): AsyncGenerator<string[]> {
  const { toDrop } = await measureMessages(readLog, options)
  const isKept = (kind: Kind, bytes: number) => {
    const left = toDrop[kind]
    if (left.count <= 0 && (left.bytes <= 0 || bytes === 0)) return true
    left.count--
    left.bytes -= bytes
    return false
  }
  const atEnd: string[] = []
  let before: ChunkRecord = { at: 0, received: 0, sound: 0 }
  for await (const lines of readLog()) {
    const kept: string[] = []
    for (const record of lines.flatMap(readSent)) {
      const kind = kindOf(record, options)
      if (record.kind === 'chunk') {
        const { chunk } = record
        if (kind && isKept(kind, ACK_BYTES)) kept.push(acknowledgment({ before, chunk }, options))
        before = chunk
      } else if (sentAtEnd.test(record.text)) {
        atEnd.push(record.text)
      } else if (kind && isKept(kind, bytesOf(record))) {
        kept.push(record.text)
      }
    }
    yield kept
  }
  yield atEnd.filter((text) => isKept('other', bytesOf({ kind: 'message', text })))
}

type Kind = 'ack' | 'other'
type Amount = { count: number; bytes: number }

/** An acknowledgement, which is made anew from its chunk. */
const ACK_BYTES = 230

/** How much is to be left out of each kind, and whether that is anything. */
export async function measureMessages(
  readLog: ReadLog,
  options: MessagesOptions,
): Promise<{ toDrop: Record<Kind, Amount>; isCut: boolean }> {
  const { maxMessages, maxMessageBytes = Number.POSITIVE_INFINITY } = options
  const ack = { count: 0, bytes: 0 }
  const other = { count: 0, bytes: 0 }
  for await (const lines of readLog()) {
    for (const record of lines.flatMap(readSent)) {
      const kind = kindOf(record, options)
      if (!kind) continue
      const counted = kind === 'ack' ? ack : other
      counted.count++
      counted.bytes += bytesOf(record)
    }
  }
  const tooMany = {
    count: Math.max(0, ack.count + other.count - maxMessages),
    bytes: Math.max(0, ack.bytes + other.bytes - maxMessageBytes),
  }
  const toDrop = {
    ack: {
      count: Math.min(ack.count, tooMany.count),
      bytes: Math.min(ack.bytes, tooMany.bytes),
    },
    other: {
      count: Math.max(0, other.count - maxMessages),
      bytes: Math.max(0, other.bytes - maxMessageBytes),
    },
  }
  return { toDrop, isCut: tooMany.count > 0 || tooMany.bytes > 0 }
}

/** The two with the whole transcript are as long as that is, and count as nothing. */
function bytesOf(record: SentRecord): number {
  if (record.kind === 'chunk') return ACK_BYTES
  return wholeTranscript.test(record.text) ? 0 : Buffer.byteLength(record.text)
}

const wholeTranscript = /^\{"type":"(post_transcript|post_final_transcript)"/

type SentRecord = Extract<LogRecord, { kind: 'chunk' | 'message' }>

/** The record of a line that may tell of a message; others are not worth being parsed. */
function readSent(line: string): SentRecord[] {
  if (!line.startsWith('chunk ') && !line.startsWith('message ')) return []
  return [readRecord(line) as SentRecord]
}

/** The acknowledgement of a chunk, where that stands in the log as a message. */
const toldAck = /^\{"type":"audio_chunk",[^{]*"acknowledged":true/

/** Whether a record stands for the acknowledgement of a chunk, for another message, or for none. */
function kindOf(record: SentRecord, { hasAcks }: MessagesOptions): Kind | undefined {
  if (record.kind === 'chunk') return hasAcks && !record.chunk.isPart ? 'ack' : undefined
  return toldAck.test(record.text) ? 'ack' : 'other'
}
