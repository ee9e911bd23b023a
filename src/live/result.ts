import { setImmediate as turn } from 'node:timers/promises'
import type { SoundFormat } from '../audio/sound-format.ts'
import { languagesBySpeech } from '../text/result.ts'
import { roundTo } from '../transcript/rounding.ts'
import { acknowledgement } from './acknowledgement.ts'
import {
  type ChunkRecord,
  type DiarizedRecord,
  type LogRecord,
  type ReadLog,
  readRecord,
} from './session-log.ts'
import { readSpoken, type Spoken } from './spoken.ts'

/**
 * What was said in a session, as JSON texts: the transcription of its result, and the utterances of that. `diarized` tells
 * of the speakers at the end, if they were asked for.
 */
export type TranscriptionText = {
  transcription: string
  utterances: string
  spoken: readonly Spoken[]
  diarized: DiarizedRecord | undefined
}

/** What a result tells besides what was said. */
export type ResultOptions = {
  /** Seconds. */
  duration: number
  channels: number
  work: number
  /** JSON texts by key. */
  addOns: Readonly<Record<string, string>>
}

/** Puts together what was said in a session. */
export async function buildTranscription(readLog: ReadLog): Promise<TranscriptionText> {
  const { spoken, diarized } = await readSpoken(readLog)
  const texts = await joined(spoken, { separator: ' ', textOf: ({ text }) => text })
  const views = await joined(spoken, { separator: ',', textOf: ({ json }) => json })
  const head = { full_transcript: texts, languages: languagesBySpeech(spoken) }
  const utterances = `[${views}]`
  const transcription = `${JSON.stringify(head).slice(0, -1)},"utterances":${utterances}}`
  return { transcription, utterances, spoken, diarized }
}

/** The result of a session as JSON text (contract 4.1), without its messages. */
export function buildResult(
  transcription: string,
  { duration, channels, work, addOns }: ResultOptions,
): string {
  const seconds = roundTo(duration, 6)
  const metadata = JSON.stringify({
    audio_duration: seconds,
    number_of_distinct_channels: channels,
    billing_time: roundTo(seconds * channels, 6),
    transcription_time: roundTo(work, 6),
  })
  const parts = Object.entries({ metadata, transcription, ...addOns })
  return `{${parts.map(([key, json]) => `"${key}":${json}`).join(',')}}`
}

/** Utterances that are put together before the loop has its turn. */
const BATCH = 1000

/** Puts texts of utterances together; all of them are megabytes. */
export async function joined<T>(
  utterances: readonly T[],
  { separator, textOf }: { separator: string; textOf: (one: T) => string },
): Promise<string> {
  const batches: string[] = []
  for (let at = 0; at < utterances.length; at += BATCH) {
    batches.push(
      utterances
        .slice(at, at + BATCH)
        .map(textOf)
        .join(separator),
    )
    await turn()
  }
  const all = batches.join(separator)
  await turn()
  return all
}

/** Which messages are kept, and how chunks were acknowledged. */
export type MessagesOptions = {
  sessionId: string
  format: SoundFormat
  /** Whether acknowledgements were sent. */
  hasAcks: boolean
  /** Beyond this, acknowledgements are left out, oldest first, then other messages. */
  maxMessages: number
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
  yield* inPieces(whole.slice(0, -1))
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
  for (const piece of inPieces(text)) yield JSON.stringify(piece).slice(1, -1)
  yield '"'
}

/** A text in pieces, none of which ends within a character. */
export function* inPieces(text: string): Generator<string> {
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
  const counted = await countMessages(readLog, options)
  const tooMany = counted.ack + counted.other - options.maxMessages
  const toDrop = {
    ack: Math.min(counted.ack, tooMany),
    other: counted.other - options.maxMessages,
  }
  const atEnd: string[] = []
  let before: ChunkRecord = { at: 0, received: 0, sound: 0 }
  for await (const lines of readLog()) {
    const kept: string[] = []
    for (const record of lines.flatMap(readSent)) {
      const kind = kindOf(record, options)
      if (record.kind === 'chunk') {
        const { chunk } = record
        if (kind && toDrop[kind]-- <= 0) kept.push(acknowledgement({ before, chunk }, options))
        before = chunk
      } else if (sentAtEnd.test(record.text)) {
        atEnd.push(record.text)
      } else if (kind && toDrop[kind]-- <= 0) {
        kept.push(record.text)
      }
    }
    yield kept
  }
  yield atEnd.filter(() => toDrop.other-- <= 0)
}

async function countMessages(
  readLog: ReadLog,
  options: MessagesOptions,
): Promise<{ ack: number; other: number }> {
  const counted = { ack: 0, other: 0 }
  for await (const lines of readLog()) {
    for (const record of lines.flatMap(readSent)) {
      const kind = kindOf(record, options)
      if (kind) counted[kind]++
    }
  }
  return counted
}

type SentRecord = Extract<LogRecord, { kind: 'chunk' | 'message' }>

/** The record of a line that may tell of a message; others are not worth being parsed. */
function readSent(line: string): SentRecord[] {
  if (!line.startsWith('chunk ') && !line.startsWith('message ')) return []
  return [readRecord(line) as SentRecord]
}

/** The acknowledgement of a chunk, where that stands in the log as a message. */
const toldAck = /^\{"type":"audio_chunk",[^{]*"acknowledged":true/

/** Whether a record stands for the acknowledgement of a chunk, for another message, or for none. */
function kindOf(record: SentRecord, { hasAcks }: MessagesOptions): 'ack' | 'other' | undefined {
  if (record.kind === 'chunk') return hasAcks && !record.chunk.isPart ? 'ack' : undefined
  return toldAck.test(record.text) ? 'ack' : 'other'
}
