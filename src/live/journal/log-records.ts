import type { SpeakersState } from '../../asr/live-engine/session-speakers.ts'
import type { AddOnError } from '../../text/result/steps/envelope.ts'
import type { AddOnGroup, AddOnResults } from '../messages/realtime-add-ons.ts'
import { headOf, type MessageHead } from '../messages/server-messages.ts'
import type { ServiceEnvelope } from '../messages/session-services.ts'
import type { LastWord } from '../recognition/endpointing/adjacent-utterances.ts'
import type { EndpointerState, UtteranceSpan } from '../recognition/endpointing/endpointer.ts'
import type { UtteranceSegments } from '../recognition/endpointing/utterance-segments.ts'

/**
 * A line of a session's log. The lines suffice to resume the session after a crash, and to list the
 * messages that were sent in its result.
 */
export type LogRecord =
  /** The first client connected at this time, in milliseconds since 1970. */
  | { kind: 'begin'; at: number }
  | { kind: 'chunk'; chunk: ChunkRecord }
  | LoggedMessage
  /** The client has certainly received this many messages. */
  | { kind: 'seen'; messages: number }
  | { kind: 'utterance'; utterance: UtteranceRecord }
  | { kind: 'found'; found: AddOnRecord }
  | { kind: 'snapshot'; snapshot: Snapshot }
  /** An utterance of the result, as JSON of its view, see `DiarizedRecord`. */
  | { kind: 'spoken'; text: string }
  | { kind: 'diarized'; diarized: DiarizedRecord }
  /** The outcome of the summary, logged before it is sent; it is final from then on. */
  | { kind: 'summary'; summary: ServiceEnvelope }
  /** The outcome of the prompts, logged before it is sent; it is final from then on. */
  | { kind: 'prompted'; prompted: ServiceEnvelope }
  | { kind: 'answer'; answer: ResponseRecord }
  /** A warning for the user about what the result lacks. */
  | { kind: 'warning'; text: string }
  | { kind: 'stop'; reason: StopReason }

/** A message, with its JSON text as it is sent. */
export type LoggedMessage = { kind: 'message'; head: MessageHead; text: string }

/** Reads the log of a session from its start, some lines at a time. */
export type ReadLog = () => AsyncGenerator<readonly string[]>

/**
 * A chunk that was stored; byte counts are totals after it. Its acknowledgment was sent at the
 * position of this record among the messages.
 */
export type ChunkRecord = {
  /** Milliseconds since 1970. */
  at: number
  /** Bytes received, WAV headers included, and bytes of audio. */
  received: number
  audio: number
  /**
   * Base64 of the bytes of this chunk that are (or may be) a WAV header; absent when there are
   * none.
   */
  held?: string
  /**
   * The number of bytes that were held back earlier and turned out to be audio; they precede this
   * chunk's own audio.
   */
  released?: number
  /** The acknowledgment covered another range, and is in the log as a message. */
  isPart?: true
  /**
   * The number of bytes that the header filter holds back after this chunk, which are the last ones
   * in `held`; absent for none.
   */
  pending?: number
}

/**
 * An utterance whose final text is known; `text` is the JSON of its view, null when it has no
 * words.
 */
export type UtteranceRecord = { channel: number; number: number; text: string | null }

/**
 * The results of a group of add-ons for a logged utterance; the messages that report them follow in
 * the log. Without `group`, these are the add-ons of this server.
 */
export type AddOnRecord = {
  channel: number
  number: number
  group?: AddOnGroup
  results: AddOnResults
}

/**
 * A response of a service, by the hash of its request (`key`). It is needed until the log has the
 * result that it is for: the results of an utterance (`purpose` is its id), or a record at the end
 * of the session (`purpose` is its kind).
 */
export type ResponseRecord = { purpose: string; key: string; value: unknown }

/**
 * The outcome of diarization at the end of the session. The last `count` utterances of kind
 * `spoken` before this record replace those that were sent; `error` states why there are none.
 * `seconds` is processing time.
 */
export type DiarizedRecord = { count: number; seconds: number; error: AddOnError | null }

/** An utterance that has ended, and the samples that are recognized for it. */
export type PendingUtterance = UtteranceSegments & { channel: number; span: UtteranceSpan }

/**
 * The state of a channel. `after` is the first sample that belongs to no utterance yet. `lastWord`
 * and `language` are those of the last emitted utterance with words; logs of older versions lack
 * them.
 */
export type ChannelState = {
  endpoint: EndpointerState
  after: number
  lastWord: LastWord | null
  language?: string
}

/** The state of the session between two frames of audio. */
export type Snapshot = {
  /** VAD frames processed. */
  position: number
  channels: ChannelState[]
  /**
   * Ended utterances without final text, in the order in which they ended; without diarization, in
   * that order per channel.
   */
  ended: PendingUtterance[]
  /** The speakers so far, if speakers are labeled. */
  speakers?: SpeakersState
  language: string | null
  /** Processing time so far, in seconds. */
  work: number
}

/** Why no more audio is accepted. */
export type StopReason = 'client' | 'left' | 'lost' | 'idle' | 'too_long' | 'too_large' | 'revoked'

/** Formats a record as one line. The kind comes first, so that most lines need no parsing. */
export function formatLogRecord(record: LogRecord): string {
  switch (record.kind) {
    case 'begin':
      return `begin ${record.at}`
    case 'chunk':
      return `chunk ${JSON.stringify(formatChunkRecord(record.chunk))}`
    case 'message': {
      const { type, variant } = record.head
      return `message ${variant ? `${type}.${variant}` : type} ${record.text}`
    }
    case 'seen':
      return `seen ${record.messages}`
    case 'utterance': {
      const { channel, number, text } = record.utterance
      return `utterance [${channel},${number},${text}]`
    }
    case 'found': {
      const { channel, number, results, group = 'own' } = record.found
      return `found ${JSON.stringify([channel, number, results, group])}`
    }
    case 'snapshot':
      return `snapshot ${JSON.stringify(record.snapshot)}`
    case 'spoken':
      return `spoken ${record.text}`
    case 'diarized':
      return `diarized ${JSON.stringify(record.diarized)}`
    case 'summary':
      return `summary ${JSON.stringify(record.summary)}`
    case 'prompted':
      return `prompted ${JSON.stringify(record.prompted)}`
    case 'answer':
      return `answer ${JSON.stringify(record.answer)}`
    case 'warning':
      return `warning ${JSON.stringify(record.text)}`
    case 'stop':
      return `stop ${JSON.stringify(record.reason)}`
  }
}

/** Parses a line. */
export function parseLogRecord(line: string): LogRecord {
  const kind = recordKindOf(line)
  const content = line.slice(kind.length + 1)
  switch (kind) {
    case 'begin':
      return { kind, at: Number(content) }
    case 'chunk':
      return { kind, chunk: parseChunkRecord(content) }
    case 'message':
      return parseMessageRecord(content)
    case 'seen':
      return { kind, messages: Number(content) }
    case 'utterance': {
      const [, channel, number, text] = /^\[(\d+),(\d+),(.*)\]$/s.exec(content)!
      const utterance = { channel: Number(channel), number: Number(number) }
      return { kind, utterance: { ...utterance, text: text === 'null' ? null : text! } }
    }
    case 'found': {
      return { kind, found: parseAddOnRecord(content) }
    }
    case 'snapshot':
      return { kind, snapshot: JSON.parse(content) as Snapshot }
    case 'spoken':
      return { kind, text: content }
    case 'diarized':
      return { kind, diarized: JSON.parse(content) as DiarizedRecord }
    case 'summary':
      return { kind, summary: JSON.parse(content) as ServiceEnvelope }
    case 'prompted':
      return { kind, prompted: JSON.parse(content) as ServiceEnvelope }
    case 'answer':
      return { kind, answer: JSON.parse(content) as ResponseRecord }
    case 'warning':
      return { kind, text: JSON.parse(content) as string }
    case 'stop':
      return { kind, reason: JSON.parse(content) as StopReason }
  }
}

/**
 * Reads the records of some kinds, in order, some lines at a time; the others are not parsed.
 */
export async function* readRecords<Kind extends LogRecord['kind']>(
  readLog: ReadLog,
  kinds: readonly Kind[],
): AsyncGenerator<Extract<LogRecord, { kind: Kind }>[]> {
  const requestedKinds = new Set<string>(kinds)
  for await (const lines of readLog()) {
    const chosen = lines.filter((line) => requestedKinds.has(recordKindOf(line)))
    yield chosen.map((line) => parseLogRecord(line) as Extract<LogRecord, { kind: Kind }>)
  }
}

/** Returns the kind of a line, which is its first word. */
export function recordKindOf(line: string): LogRecord['kind'] {
  return line.slice(0, Math.max(0, line.indexOf(' '))) as LogRecord['kind']
}

/** Parses a message; logs of older versions have no head before the text. */
function parseMessageRecord(content: string): LoggedMessage {
  if (content.startsWith('{'))
    return { kind: 'message', head: headOf(JSON.parse(content)), text: content }
  const space = content.indexOf(' ')
  const [type, variant] = content.slice(0, space).split('.') as [
    MessageHead['type'],
    MessageHead['variant']?,
  ]
  return {
    kind: 'message',
    head: { type, ...(variant && { variant }) },
    text: content.slice(space + 1),
  }
}

/**
 * Parses the results of add-ons. Logs of older versions do not name the group; only services
 * translate.
 */
function parseAddOnRecord(content: string): AddOnRecord {
  type FoundLine = [number, number, AddOnResults, AddOnGroup?]
  const [channel, number, results, loggedGroup] = JSON.parse(content) as FoundLine
  const group = loggedGroup ?? (results.translation ? 'services' : 'own')
  return { channel, number, results, ...(group !== 'own' && { group }) }
}

type ChunkLine = [number, number, number, string?, number?, number?, number?]

/** Formats nearly all chunks as three numbers: a log may hold half a million of them. */
function formatChunkRecord(chunk: ChunkRecord): ChunkLine {
  const { at, received, audio, held = '', released = 0, isPart, pending = 0 } = chunk
  if (!held && !released && !isPart && !pending) return [at, received, audio]
  return [at, received, audio, held, released, isPart ? 1 : 0, pending]
}

function parseChunkRecord(text: string): ChunkRecord {
  const [at, received, audio, held, released, isPart, pending] = JSON.parse(text) as ChunkLine
  return {
    at,
    received,
    audio,
    ...(held && { held }),
    ...(released && { released }),
    ...(isPart && { isPart: true as const }),
    ...(pending && { pending }),
  }
}

const recordKinds = new Set<LogRecord['kind']>([
  ...(['begin', 'chunk', 'message', 'seen', 'utterance', 'found'] as const),
  ...(['snapshot', 'spoken', 'diarized', 'summary', 'prompted', 'answer'] as const),
  ...(['warning', 'stop'] as const),
])

/**
 * Returns the total bytes of audio that the record of a chunk states; undefined for other lines.
 * For a line that a power failure damaged, returns infinity, so that the log is truncated there.
 */
export function audioAfter(line: string): number | undefined {
  const kind = recordKindOf(line)
  if (!recordKinds.has(kind)) return Number.POSITIVE_INFINITY
  if (kind !== 'chunk') return undefined
  try {
    return parseChunkRecord(line.slice(6)).audio
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
