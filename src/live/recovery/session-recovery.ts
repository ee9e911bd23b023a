import type { LiveFiles } from '../../storage/live/live-files.ts'
import type { Envelope } from '../../text/result/envelope.ts'
import type { Outgoing } from '../connection.ts'
import { type AckBoundary, dropOlder, type EarlierChunks } from '../input/chunk-ledger.ts'
import { type EarlierMessages, mustArrive } from '../messages/message-outbox.ts'
import {
  type Routing,
  readMessage,
  type ServerMessage,
  type TextMessage,
} from '../messages/server-messages.ts'
import { bytesOf } from '../messages/unread-bytes.ts'
import { utteranceId } from '../messages/utterance-view.ts'
import {
  type AddOnRecord,
  type ChunkRecord,
  readRecord,
  type Snapshot,
  type StopReason,
  type UtteranceRecord,
} from './session-log.ts'

/** What an earlier process logged about a session, as far as the next one needs it. */
export type RecoveredSession = {
  /** When its first client connected, in milliseconds since 1970, if that was logged. */
  beganAt: number | undefined
  chunks: EarlierChunks
  messages: EarlierMessages
  snapshot: Snapshot | undefined
  stop: StopReason | undefined
  /** Whether the outcome of diarization is in the log. */
  isDiarized: boolean
  sent: AlreadySent
  /** What the result lacks, to be reported with it. */
  warnings: string[]
}

/** What must not be sent twice: audio after the last snapshot is recognized again. */
export type AlreadySent = {
  /** Speech events after the last snapshot, see `speechKey`. */
  speech: Set<string>
  /** Utterances with a sent partial, with a sent final, and those that are in the log. */
  partials: Set<string>
  finals: Set<string>
  done: Set<string>
  /** Characters of the JSON of the logged utterances. */
  utteranceBytes: number
  /** Messages about the session as a whole, by type. */
  once: Map<string, string>
  /** Utterances that the add-ons have not answered yet, by id. */
  unanswered: Map<string, UtteranceRecord>
  /** The last answer of the add-ons, and how many of its messages were sent. */
  lastAnswer: { utterance: UtteranceRecord; found: AddOnRecord; sent: number } | undefined
  /** The outcome of the summary. */
  summary: Envelope | undefined
}

/** Returns the state in which nothing was sent yet. */
export function nothingSent(): AlreadySent {
  return {
    speech: new Set(),
    partials: new Set(),
    finals: new Set(),
    done: new Set(),
    utteranceBytes: 0,
    once: new Map(),
    unanswered: new Map(),
    lastAnswer: undefined,
    summary: undefined,
  }
}

/** Returns a key that identifies a speech event within its session. */
export function speechKey(
  type: string,
  { time, channel }: { time: number; channel: number },
): string {
  return `${type} ${channel} ${time}`
}

/**
 * Logged before the result is stored, and sent afterwards: no client has them while a session is
 * open.
 */
const endTypes = new Set(['post_final_transcript', 'end_session'])
/** A client that reads these slowly does no harm, see `Outgoing`. */
const lastTypes = new Set(['end_recording', 'post_transcript', 'post_summarization', ...endTypes])

type ReadOptions = {
  routing: Routing
  /** Whether add-ons answer each utterance. */
  hasAddOns: boolean
  keepSeconds: number
  /**
   * Messages kept while no client is connected, and their bytes; beyond that, the oldest are
   * dropped.
   */
  maxMissed: number
  maxMissedBytes?: number
}

/** Reads the log of a session. */
export async function recoverSession(
  files: Pick<LiveFiles, 'readLines'>,
  {
    routing,
    hasAddOns,
    keepSeconds,
    maxMissed,
    maxMissedBytes = Number.POSITIVE_INFINITY,
  }: ReadOptions,
): Promise<RecoveredSession> {
  const chunks = createChunkReader(keepSeconds * 1000)
  const earlier = {
    beganAt: undefined as number | undefined,
    snapshot: undefined as Snapshot | undefined,
    stop: undefined as StopReason | undefined,
    isDiarized: false,
  }
  let [numbered, seen] = [0, 0]
  let missed: Outgoing[] = []
  const withheld = new Map<string, Outgoing>()
  const sent = nothingSent()
  const warnings: string[] = []
  for await (const lines of files.readLines()) {
    for (const line of lines) {
      const record = readRecord(line)
      switch (record.kind) {
        case 'begin':
          earlier.beganAt = record.at
          break
        case 'chunk':
          chunks.add(record.chunk)
          break
        case 'message': {
          const { text } = record
          const message = readMessage(text)
          note(message, text, sent)
          if (message.type === 'audio_chunk' && message.data) {
            const { created_at, data } = message
            chunks.addBoundary({ at: Date.parse(created_at), received: data.byte_range[1] })
          }
          if (!mustArrive(message) || !routing.isForSocket(message)) break
          const { type } = message
          const outgoing: Outgoing = {
            text,
            number: ++numbered,
            ...(lastTypes.has(type) && { isLast: true }),
          }
          if (endTypes.has(type)) withheld.set(type, outgoing)
          else missed.push(outgoing)
          break
        }
        case 'seen':
          seen = Math.max(seen, record.messages)
          break
        case 'utterance': {
          const id = utteranceId(record.utterance)
          sent.done.add(id)
          if (hasAddOns && record.utterance.text !== null) {
            sent.unanswered.set(id, record.utterance)
          }
          sent.utteranceBytes += record.utterance.text?.length ?? 0
          break
        }
        case 'found': {
          const { found } = record
          const id = utteranceId(found)
          const utterance = sent.unanswered.get(id)
          sent.unanswered.delete(id)
          sent.lastAnswer = utterance && { utterance, found, sent: 0 }
          break
        }
        case 'snapshot':
          earlier.snapshot = record.snapshot
          sent.speech.clear()
          break
        case 'summary':
          sent.summary = record.summary
          break
        case 'diarized':
          earlier.isDiarized = true
          break
        case 'warning':
          warnings.push(record.text)
          break
        case 'stop':
          earlier.stop = record.reason
      }
    }
    chunks.cut()
    missed = newest(missed.filter(({ number }) => number! > seen).slice(-maxMissed), maxMissedBytes)
  }
  return {
    ...earlier,
    chunks: chunks.end(),
    messages: { numbered, missed, withheld },
    sent,
    warnings,
  }
}

/** Returns the last messages whose bytes together do not exceed the limit; at least one. */
function newest(messages: Outgoing[], maxBytes: number): Outgoing[] {
  let bytes = 0
  const last = messages.findLastIndex((message) => {
    bytes += bytesOf(message)
    return bytes > maxBytes
  })
  return messages.slice(Math.min(last + 1, messages.length - 1))
}

function note(message: ServerMessage | TextMessage, text: string, sent: AlreadySent): void {
  switch (message.type) {
    case 'speech_start':
    case 'speech_end':
      sent.speech.add(speechKey(message.type, message.data))
      break
    case 'transcript':
      ;(message.data.is_final ? sent.finals : sent.partials).add(message.data.id)
      break
    case 'translation':
    case 'named_entity_recognition':
    case 'sentiment_analysis':
      if (sent.lastAnswer) sent.lastAnswer.sent++
      break
    case 'audio_chunk':
    case 'stop_recording':
    case 'error':
      break
    default:
      sent.once.set(message.type, text)
  }
}

/** Creates a reader that collects from all chunks what a chunk ledger needs. */
function createChunkReader(keepMs: number) {
  let before: ChunkRecord = { at: 0, received: 0, audio: 0 }
  const recent: ChunkRecord[] = []
  const seams: AckBoundary[] = []
  /** The last bytes held back, up to the start of a possible header or before it. */
  let held: Uint8Array[] = []

  function cut(): void {
    const since = (recent.at(-1)?.at ?? 0) - keepMs
    before = dropOlder(recent, since) ?? before
    dropOlder(seams, since)
  }

  return {
    add(chunk: ChunkRecord): void {
      recent.push(chunk)
      if (!chunk.pending) held = []
      else held.push(Buffer.from(chunk.held ?? '', 'base64'))
    },
    addBoundary(boundary: AckBoundary): void {
      seams.push(boundary)
    },
    /** Drops chunks that clients can no longer repeat. */
    cut,
    end(): EarlierChunks {
      cut()
      const bytes = Buffer.concat(held)
      const pending = bytes.subarray(bytes.length - (recent.at(-1)?.pending ?? 0))
      return { recent, before, seams, pending }
    },
  }
}
