import type { SessionStore } from '../../storage/live/session-store.ts'
import type { OutgoingMessage } from '../connection/connection.ts'
import { type AckBoundary, dropOlder, type EarlierChunks } from '../input/chunk-positions.ts'
import { utteranceId } from '../messages/live-utterance.ts'
import type { LoggedResponses } from '../messages/logged-responses.ts'
import type { EarlierMessages } from '../messages/message-outbox.ts'
import type { AddOnGroup } from '../messages/realtime-add-ons.ts'
import {
  holdsWholeTranscript,
  isReliable,
  isSentAtEnd,
  type MessageHead,
  type Routing,
  type ServerMessage,
} from '../messages/server-messages.ts'
import type { ServiceEnvelope } from '../messages/session-services.ts'
import { messageMemory } from '../messages/unread-bytes.ts'
import {
  type AddOnRecord,
  type ChunkRecord,
  type LoggedMessage,
  type LogRecord,
  parseLogRecord,
  type Snapshot,
  type StopReason,
  type UtteranceRecord,
} from './log-records.ts'

/** The state of a session that an earlier process logged, as far as the next process needs it. */
export type RecoveredSession = {
  /** When the first client connected, in milliseconds since 1970, if that was logged. */
  beganAt: number | undefined
  chunks: EarlierChunks
  messages: EarlierMessages
  snapshot: Snapshot | undefined
  stop: StopReason | undefined
  /** Whether the outcome of diarization is in the log. */
  isDiarized: boolean
  sent: AlreadySent
  /** Warnings about what the result lacks. */
  warnings: string[]
}

/** The messages that must not be sent twice: audio after the last snapshot is recognized again. */
export type AlreadySent = {
  /** Speech events after the last snapshot, see `speechKey`. */
  speech: Set<string>
  /** Ids of utterances with a sent partial. */
  partials: Set<string>
  /** Ids of utterances with a sent final. */
  finals: Set<string>
  /** Ids of utterances that are in the log. */
  done: Set<string>
  /** Characters of the JSON of the logged utterances. */
  utteranceChars: number
  /** The texts of messages about the session as a whole, by type. */
  onceMessages: Map<string, string>
  /** Utterances that a group of add-ons has not processed yet, by utterance id and group. */
  pendingAddOns: Map<string, { utterance: UtteranceRecord; group: AddOnGroup }>
  /** The last results of add-ons, and how many of their messages were sent. */
  lastResults: { utterance: UtteranceRecord; found: AddOnRecord; sent: number } | undefined
  /** The outcome of the summary, if it is logged. */
  summary: ServiceEnvelope | undefined
  /** The outcome of the prompts, if it is logged. */
  prompted: ServiceEnvelope | undefined
  /** Responses of services for results that are not logged yet. */
  responses: LoggedResponses
}

/** Returns the state in which nothing was sent yet. */
export function nothingSent(): AlreadySent {
  return {
    speech: new Set(),
    partials: new Set(),
    finals: new Set(),
    done: new Set(),
    utteranceChars: 0,
    onceMessages: new Map(),
    pendingAddOns: new Map(),
    lastResults: undefined,
    summary: undefined,
    prompted: undefined,
    responses: new Map(),
  }
}

/** Returns a key that identifies a speech event within its session. */
export function speechKey(
  type: string,
  { time, channel }: { time: number; channel: number },
): string {
  return `${type} ${channel} ${time}`
}

const closingTypes = new Set<string>(['end_recording', 'post_summarization', 'post_audio_to_llm'])

/** Returns whether a message is one of the last of its session, see `OutgoingMessage`. */
function isClosing(head: MessageHead): boolean {
  const { type } = head
  return closingTypes.has(type) || holdsWholeTranscript(head) || isSentAtEnd(head)
}

type ReadOptions = {
  routing: Routing
  /** The groups of add-ons that answer each utterance. */
  addOnGroups: readonly AddOnGroup[]
  keepSeconds: number
  /**
   * Maximum messages kept while no client is connected, and their bytes; beyond that, the oldest
   * are dropped.
   */
  maxMissed: number
  maxMissedBytes?: number
}

/** Reads the log of a session. */
export async function recoverSession(
  store: Pick<SessionStore, 'readLines'>,
  options: ReadOptions,
): Promise<RecoveredSession> {
  const { keepSeconds, maxMissed, maxMissedBytes = Number.POSITIVE_INFINITY } = options
  const recovery: RecoveryState = {
    options,
    beganAt: undefined,
    snapshot: undefined,
    stop: undefined,
    isDiarized: false,
    reliableCount: 0,
    seen: 0,
    missed: [],
    withheld: new Map(),
    warnings: [],
    chunks: createChunkCollector(keepSeconds * 1000),
    sent: nothingSent(),
  }
  for await (const lines of store.readLines()) {
    for (const line of lines) restoreRecord(recovery, parseLogRecord(line))
    recovery.chunks.cut()
    const missed = recovery.missed.filter(({ sequence }) => sequence! > recovery.seen)
    recovery.missed = newest(missed.slice(-maxMissed), maxMissedBytes)
  }
  const { beganAt, snapshot, stop, isDiarized, reliableCount, missed, withheld } = recovery
  return {
    beganAt,
    snapshot,
    stop,
    isDiarized,
    sent: recovery.sent,
    warnings: recovery.warnings,
    chunks: recovery.chunks.end(),
    messages: { reliableCount, missed, withheld },
  }
}

/** The state read from a log so far. */
type RecoveryState = Omit<RecoveredSession, 'chunks' | 'messages'> &
  EarlierMessages & {
    options: ReadOptions
    chunks: ReturnType<typeof createChunkCollector>
    /** The number of messages that the client has confirmed. */
    seen: number
  }

/** Applies each kind of record to the restored state. */
const restorers: {
  [Kind in LogRecord['kind']]: (
    recovery: RecoveryState,
    record: Extract<LogRecord, { kind: Kind }>,
  ) => void
} = {
  begin(recovery, { at }) {
    recovery.beganAt = at
  },
  chunk({ chunks }, { chunk }) {
    chunks.add(chunk)
  },
  message(recovery, record) {
    recordSent(recovery, record)
    queueUnconfirmed(recovery, record)
  },
  seen(recovery, { messages }) {
    recovery.seen = Math.max(recovery.seen, messages)
  },
  utterance({ sent, options }, { utterance }) {
    const id = utteranceId(utterance)
    sent.done.add(id)
    for (const group of utterance.text === null ? [] : options.addOnGroups) {
      sent.pendingAddOns.set(`${id} ${group}`, { utterance, group })
    }
    sent.utteranceChars += utterance.text?.length ?? 0
  },
  found({ sent }, { found }) {
    const key = `${utteranceId(found)} ${found.group ?? 'own'}`
    const { utterance } = sent.pendingAddOns.get(key) ?? {}
    sent.pendingAddOns.delete(key)
    if (found.group === 'services') sent.responses.delete(utteranceId(found))
    sent.lastResults = utterance && { utterance, found, sent: 0 }
  },
  snapshot(recovery, { snapshot }) {
    recovery.snapshot = snapshot
    recovery.sent.speech.clear()
  },
  spoken() {},
  diarized(recovery) {
    recovery.isDiarized = true
  },
  summary({ sent }, { summary }) {
    sent.summary = summary
    sent.responses.delete('summary')
  },
  prompted({ sent }, { prompted }) {
    sent.prompted = prompted
    sent.responses.delete('prompted')
  },
  answer({ sent }, { answer: { purpose, key, value } }) {
    const responses = sent.responses.get(purpose) ?? new Map<string, unknown>()
    sent.responses.set(purpose, responses.set(key, value))
  },
  warning({ warnings }, { text }) {
    warnings.push(text)
  },
  stop(recovery, { reason }) {
    recovery.stop = reason
  },
}

function restoreRecord<Kind extends LogRecord['kind']>(
  recovery: RecoveryState,
  record: Extract<LogRecord, { kind: Kind }>,
): void {
  restorers[record.kind as Kind](recovery, record)
}

/** Queues a message that the client may not have received. */
function queueUnconfirmed(recovery: RecoveryState, { head, text }: LoggedMessage): void {
  if (!isReliable(head) || !recovery.options.routing.isForSocket(head)) return
  const number = ++recovery.reliableCount
  const outgoing: OutgoingMessage = {
    text,
    sequence: number,
    ...(isClosing(head) && { isClosing: true }),
  }
  if (isSentAtEnd(head)) recovery.withheld.set(head.type, outgoing)
  else recovery.missed.push(outgoing)
}

/** Returns the last messages whose bytes together do not exceed the limit; at least one. */
function newest(messages: OutgoingMessage[], maxBytes: number): OutgoingMessage[] {
  let bytes = 0
  const last = messages.findLastIndex((message) => {
    bytes += messageMemory(message)
    return bytes > maxBytes
  })
  return messages.slice(Math.min(last + 1, messages.length - 1))
}

/**
 * Records a message that must not be sent twice; one that holds the whole transcript is not parsed.
 */
function recordSent({ sent, chunks }: RecoveryState, { head, text }: LoggedMessage): void {
  if (holdsWholeTranscript(head)) {
    sent.onceMessages.set(head.type, text)
    return
  }
  const message = JSON.parse(text) as ServerMessage & { created_at: string }
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
      if (sent.lastResults && head.variant !== 'partial') sent.lastResults.sent++
      break
    case 'audio_chunk':
      if (message.data) {
        const { created_at, data } = message
        chunks.addBoundary({ at: Date.parse(created_at), received: data.byte_range[1] })
      }
      break
    case 'stop_recording':
    case 'error':
      break
    default:
      sent.onceMessages.set(message.type, text)
  }
}

/** Creates a collector of the chunks that `ChunkPositions` needs. */
function createChunkCollector(keepMs: number) {
  let before: ChunkRecord = { at: 0, received: 0, audio: 0 }
  const recent: ChunkRecord[] = []
  const ackBoundaries: AckBoundary[] = []
  /** The bytes held back last; they begin at or before the start of a possible header. */
  let held: Uint8Array[] = []

  function cut(): void {
    const since = (recent.at(-1)?.at ?? 0) - keepMs
    before = dropOlder(recent, since) ?? before
    dropOlder(ackBoundaries, since)
  }

  return {
    add(chunk: ChunkRecord): void {
      recent.push(chunk)
      if (!chunk.pending) held = []
      else held.push(Buffer.from(chunk.held ?? '', 'base64'))
    },
    addBoundary(boundary: AckBoundary): void {
      ackBoundaries.push(boundary)
    },
    /** Drops chunks that clients can no longer repeat. */
    cut,
    end(): EarlierChunks {
      cut()
      const bytes = Buffer.concat(held)
      const pending = bytes.subarray(bytes.length - (recent.at(-1)?.pending ?? 0))
      return { recent, before, ackBoundaries, pending }
    },
  }
}
