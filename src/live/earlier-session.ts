import type { LiveFiles } from '../storage/live-files.ts'
import type { Outgoing } from './connection.ts'
import type { EarlierChunks, Seam } from './intake.ts'
import type { Routing, ServerMessage } from './messages.ts'
import { type EarlierMessages, mustArrive } from './outbox.ts'
import { type ChunkRecord, readRecord, type Snapshot, type StopReason } from './session-log.ts'
import { utteranceId } from './views.ts'

/** What an earlier process noted of a session, as far as the next one has to know. */
export type EarlierSession = {
  /** When its first client came, in milliseconds since 1970, if that was noted. */
  beganAt: number | undefined
  chunks: EarlierChunks
  messages: EarlierMessages
  snapshot: Snapshot | undefined
  stop: StopReason | undefined
  told: Told
}

/** What must not be told twice: what was heard after the last snapshot is heard again. */
export type Told = {
  /** Speech events after the last snapshot, see `speechKey`. */
  speech: Set<string>
  /** Utterances of which a partial or the final was sent, and those with which all is done. */
  partials: Set<string>
  finals: Set<string>
  done: Set<string>
  /** Messages about the session as a whole, by type. */
  once: Map<string, string>
}

/** Nothing was told yet. */
export function nothingTold(): Told {
  return {
    speech: new Set(),
    partials: new Set(),
    finals: new Set(),
    done: new Set(),
    once: new Map(),
  }
}

/** Tells a speech event from all others of its session. */
export function speechKey(
  type: string,
  { time, channel }: { time: number; channel: number },
): string {
  return `${type} ${channel} ${time}`
}

/** Noted before the result is stored, and sent afterwards: while a session is open nobody has them. */
const endTypes = new Set(['post_final_transcript', 'end_session'])

type ReadOptions = { routing: Routing; keepSeconds: number }

/** Reads what is noted of a session. */
export async function readEarlier(
  files: Pick<LiveFiles, 'readLines'>,
  { routing, keepSeconds }: ReadOptions,
): Promise<EarlierSession> {
  const chunks = createChunkReader(keepSeconds * 1000)
  const earlier = {
    beganAt: undefined as number | undefined,
    snapshot: undefined as Snapshot | undefined,
    stop: undefined as StopReason | undefined,
  }
  let [numbered, seen] = [0, 0]
  let numberedMessages: Outgoing[] = []
  const withheld = new Map<string, Outgoing>()
  const told = nothingTold()
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
          const message = JSON.parse(record.text) as ServerMessage & { created_at: string }
          note(message, record.text, told)
          if (message.type === 'audio_chunk' && message.data) {
            const { created_at, data } = message
            chunks.addSeam({ at: Date.parse(created_at), received: data.byte_range[1] })
          }
          if (!mustArrive(message) || !routing.isForSocket(message)) break
          numbered++
          if (endTypes.has(message.type)) {
            withheld.set(message.type, { text: record.text, number: numbered, isLast: true })
          } else {
            numberedMessages.push({ text: record.text, number: numbered })
          }
          break
        }
        case 'seen':
          seen = record.messages
          numberedMessages = numberedMessages.filter(({ number }) => number! > seen)
          break
        case 'utterance':
          told.done.add(utteranceId(record.utterance))
          break
        case 'snapshot':
          earlier.snapshot = record.snapshot
          told.speech.clear()
          break
        case 'stop':
          earlier.stop = record.reason
      }
    }
  }
  return {
    ...earlier,
    chunks: chunks.end(),
    messages: { numbered, missed: numberedMessages, withheld },
    told,
  }
}

function note(message: ServerMessage, text: string, told: Told): void {
  switch (message.type) {
    case 'speech_start':
    case 'speech_end':
      told.speech.add(speechKey(message.type, message.data))
      break
    case 'transcript':
      ;(message.data.is_final ? told.finals : told.partials).add(message.data.id)
      break
    case 'audio_chunk':
    case 'stop_recording':
    case 'error':
      break
    default:
      told.once.set(message.type, text)
  }
}

/** Keeps of all chunks what an intake has to know. */
function createChunkReader(keepMs: number) {
  let before: ChunkRecord = { at: 0, received: 0, sound: 0 }
  const recent: ChunkRecord[] = []
  const seams: Seam[] = []
  return {
    add(chunk: ChunkRecord): void {
      recent.push(chunk)
      while (recent[0]!.at < chunk.at - keepMs) before = recent.shift()!
    },
    addSeam(seam: Seam): void {
      seams.push(seam)
    },
    end(): EarlierChunks {
      const since = (recent.at(-1)?.at ?? 0) - keepMs
      return { recent, before, seams: seams.filter(({ at }) => at >= since) }
    },
  }
}
