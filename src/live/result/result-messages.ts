import type { AudioFormat } from '../../audio/audio-format.ts'
import { chunkAcknowledgment } from '../input/acknowledgment.ts'
import {
  type ChunkRecord,
  type LoggedMessage,
  type LogRecord,
  type ReadLog,
  readRecords,
} from '../journal/log-records.ts'
import { ackHead, holdsWholeTranscript, isSentAtEnd } from '../messages/server-messages.ts'

/** Options for listing the messages of a session in its result. */
export type MessagesOptions = {
  sessionId: string
  format: AudioFormat
  /** Whether acknowledgments were sent. */
  hasAcks: boolean
  /**
   * Maximum messages; beyond that, acknowledgments are left out, oldest first, then other messages.
   */
  maxMessages: number
  /**
   * Maximum bytes of the messages, with the same order; the two messages that hold the whole
   * transcript do not count.
   */
  maxMessageBytes?: number
}

/**
 * Yields a result with the sent messages as its last key, in chunks, none of which ends within a
 * character: the messages are never in memory as a whole.
 */
export async function* withMessages(
  wholeText: string,
  readLog: ReadLog,
  options: MessagesOptions,
): AsyncGenerator<string> {
  yield* textChunks(wholeText.slice(0, -1))
  yield ',"messages":['
  let isFirst = true
  for await (const messages of keptMessages(readLog, options)) {
    let text = ''
    for (const message of messages) {
      if (!isFirst) text += ','
      isFirst = false
      if (message.length < LONG_TEXT_CHARS) {
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

/** Longer texts are yielded in chunks of this size, so that the event loop runs in between. */
const LONG_TEXT_CHARS = 64 * 1024

function* writeLong(text: string): Generator<string> {
  yield '"'
  for (const piece of textChunks(text)) yield JSON.stringify(piece).slice(1, -1)
  yield '"'
}

/** Yields a text in chunks, none of which ends within a character. */
export function* textChunks(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const last = text.charCodeAt(at + LONG_TEXT_CHARS - 1)
    const isPair = last >= 0xd800 && last < 0xdc00
    const end = at + LONG_TEXT_CHARS + (isPair ? 1 : 0)
    yield text.slice(at, end)
    at = end
  }
}

/** Yields the sent messages that are kept, in order, some at a time. */
async function* keptMessages(readLog: ReadLog, options: MessagesOptions): AsyncGenerator<string[]> {
  const { toDrop } = await measureMessages(readLog, options)
  const isKept = (kind: Kind, bytes: number) => {
    const remaining = toDrop[kind]
    if (remaining.count <= 0 && (remaining.bytes <= 0 || bytes === 0)) return true
    remaining.count--
    remaining.bytes -= bytes
    return false
  }
  const atEnd: LoggedMessage[] = []
  let before: ChunkRecord = { at: 0, received: 0, audio: 0 }
  for await (const records of readRecords(readLog, sentKinds)) {
    const keptTexts: string[] = []
    for (const record of records) {
      const kind = messageKindOf(record, options)
      if (record.kind === 'chunk') {
        const { chunk } = record
        if (kind && isKept(kind, ACK_BYTES))
          keptTexts.push(chunkAcknowledgment({ before, chunk }, options))
        before = chunk
      } else if (isSentAtEnd(record.head)) {
        atEnd.push(record)
      } else if (kind && isKept(kind, recordBytes(record))) {
        keptTexts.push(record.text)
      }
    }
    yield keptTexts
  }
  yield atEnd.filter((record) => isKept('other', recordBytes(record))).map(({ text }) => text)
}

type Kind = 'ack' | 'other'
type Amount = { count: number; bytes: number }

/** Bytes of an acknowledgment, which is rebuilt from its chunk. */
const ACK_BYTES = 230

/**
 * Measures how many messages and bytes of each kind must be left out; `isCut` is true if any must.
 */
export async function measureMessages(
  readLog: ReadLog,
  options: MessagesOptions,
): Promise<{ toDrop: Record<Kind, Amount>; isCut: boolean }> {
  const { maxMessages, maxMessageBytes = Number.POSITIVE_INFINITY } = options
  const ack = { count: 0, bytes: 0 }
  const otherMessages = { count: 0, bytes: 0 }
  for await (const records of readRecords(readLog, sentKinds)) {
    for (const record of records) {
      const kind = messageKindOf(record, options)
      if (!kind) continue
      const counted = kind === 'ack' ? ack : otherMessages
      counted.count++
      counted.bytes += recordBytes(record)
    }
  }
  const excess = {
    count: Math.max(0, ack.count + otherMessages.count - maxMessages),
    bytes: Math.max(0, ack.bytes + otherMessages.bytes - maxMessageBytes),
  }
  const toDrop = {
    ack: {
      count: Math.min(ack.count, excess.count),
      bytes: Math.min(ack.bytes, excess.bytes),
    },
    other: {
      count: Math.max(0, otherMessages.count - maxMessages),
      bytes: Math.max(0, otherMessages.bytes - maxMessageBytes),
    },
  }
  return { toDrop, isCut: excess.count > 0 || excess.bytes > 0 }
}

/** Returns the bytes of a record; the two messages with the whole transcript count as 0. */
function recordBytes(record: SentRecord): number {
  if (record.kind === 'chunk') return ACK_BYTES
  return holdsWholeTranscript(record.head) ? 0 : Buffer.byteLength(record.text)
}

const sentKinds = ['chunk', 'message'] as const
type SentRecord = Extract<LogRecord, { kind: (typeof sentKinds)[number] }>

/** Returns what kind of sent message a record stands for; undefined if for none. */
function messageKindOf(record: SentRecord, { hasAcks }: MessagesOptions): Kind | undefined {
  if (record.kind === 'chunk') return hasAcks && !record.chunk.isPart ? 'ack' : undefined
  const { type, variant } = record.head
  return type === ackHead.type && !variant ? 'ack' : 'other'
}
