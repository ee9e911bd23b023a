import { type ReceiveTimeout, startReceiveTimeout, wallNow } from '../../clock.ts'
import type { SessionStore } from '../../storage/live/session-store.ts'
import { roundTo } from '../../transcript/rounding.ts'
import { closeCodes } from '../connection/close-codes.ts'
import type { Journal } from '../journal/journal.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import { warnOfFileFormat } from '../journal/session-warnings.ts'
import type { MessageOutbox } from '../messages/message-outbox.ts'
import { ackHead } from '../messages/server-messages.ts'
import { noMetrics, type SessionMetrics } from '../sessions/session-metrics.ts'
import { rangeAcknowledgment } from './acknowledgment.ts'
import { ChunkPositions, type ChunkPositionsOptions, readChunks } from './chunk-positions.ts'
import { createResumeMatcher, type ResumeMatcher } from './resume-matcher.ts'
import { secondsOfAudio } from './session-format.ts'

/** Options of the audio input of a session. */
export type AudioInputOptions = ChunkPositionsOptions & {
  sessionId: string
  store: SessionStore
  journal: Journal
  outbox: MessageOutbox
  metrics?: SessionMetrics | undefined
  /** Adds a warning to the result. */
  warn?: ((text: string) => void) | undefined
}

/** How long to wait for the next chunk of a resumed connection while it may repeat stored bytes. */
const REPEAT_TIMEOUT_MS = 1000
/**
 * Each chunk extends the wait up to this maximum. A slow uplink takes many seconds to repeat what a
 * client buffered; but a user who speaks for this long without an acknowledgment believes that the
 * session is stuck.
 */
const MAX_REPEAT_TIMEOUT_MS = 10_000

/** A chunk, and when it arrived on the clock of this process. */
type ArrivedChunk = { bytes: Uint8Array; arrivedAt: number }

/**
 * The chunks of a resumed connection that are not stored yet. `matcher` keeps no more of their
 * bytes than it compares.
 */
type HeldChunks = {
  matcher: ResumeMatcher
  chunks: ArrivedChunk[]
  /** When the first held chunk arrived; undefined while none is held. */
  since: number | undefined
  hasAudio: boolean
  timeout: ReceiveTimeout | undefined
}

/**
 * Accepts the chunks of a session: counts them, passes them on to be stored, and acknowledges them
 * once they are stored. The first chunks of a resumed connection are held until it is clear whether
 * they repeat what had arrived.
 */
export class AudioInput {
  readonly #options: AudioInputOptions
  readonly #chunkPositions: ChunkPositions
  #held: HeldChunks | undefined
  /** Whether a header of this connection was refused, which therefore ends. */
  #isRefused = false

  constructor(options: AudioInputOptions) {
    this.#options = options
    this.#chunkPositions = new ChunkPositions(options)
  }

  /** Bytes of accepted audio. */
  get audioBytes(): number {
    return this.#chunkPositions.audioBytes
  }

  /** Seconds of audio accepted. */
  get seconds(): number {
    return roundTo(secondsOfAudio(this.#chunkPositions.audioBytes, this.#options.format), 6)
  }

  /**
   * Prepares for a connection that resumes the session at `offset`, a session byte; undefined means
   * wherever its first bytes belong. Returns false when the session has fewer bytes than `offset`.
   */
  async resume(offset: number | undefined): Promise<boolean> {
    this.dropHeld()
    this.#isRefused = false
    const chunkPositions = this.#chunkPositions
    chunkPositions.continueAt(chunkPositions.received)
    if (offset !== undefined) {
      if (offset > chunkPositions.received) return false
      chunkPositions.continueAt(offset)
      return true
    }
    const repeatable = chunkPositions.repeatable()
    if (repeatable.chunks.length === 0) return true
    const { store, journal } = this.#options
    await journal.flushed()
    const stored = await readChunks(repeatable, (from, to) => store.readAudio(from, to))
    const { from, boundaries } = repeatable
    const matcher = createResumeMatcher({ from: from.received, stored, boundaries })
    this.#held = { matcher, chunks: [], since: undefined, hasAudio: false, timeout: undefined }
    return true
  }

  /** Accepts a chunk. Its acknowledgment or refusal follows once everything before it is stored. */
  take(chunk: Uint8Array): void {
    const held = this.#held
    const arrived = { bytes: chunk, arrivedAt: performance.now() }
    if (!held) {
      this.#store(arrived)
      return
    }
    held.chunks.push(arrived)
    held.hasAudio ||= chunk.length > 0
    const position = chunk.length > 0 ? held.matcher.write(chunk) : undefined
    held.timeout?.clear()
    if (position !== undefined) {
      this.#release(position)
      return
    }
    const now = wallNow()
    held.since ??= now
    const remainingMs = held.since + MAX_REPEAT_TIMEOUT_MS - now
    const ms = Math.min(REPEAT_TIMEOUT_MS, remainingMs)
    held.timeout = startReceiveTimeout(() => this.settle(), ms)
  }

  /**
   * Decides where the held chunks belong, if that is still undecided. Empty chunks decide nothing:
   * they are acknowledged, and what follows them may still repeat.
   */
  settle(): void {
    const held = this.#held
    if (!held) return
    if (held.hasAudio) {
      this.#release(held.matcher.decide())
      return
    }
    held.timeout?.clear()
    held.since = undefined
    for (const chunk of held.chunks.splice(0)) this.#store(chunk)
  }

  /**
   * Drops the held chunks of a lost connection: so far they only repeat what had arrived, and they
   * were not acknowledged. The client sends them again.
   */
  dropHeld(): void {
    this.#held?.timeout?.clear()
    this.#held = undefined
  }

  /** Ends the input: no more chunks follow. */
  end(): void {
    this.settle()
    this.dropHeld()
    const stored = this.#chunkPositions.end(wallNow())
    if (!stored) return
    const { audio, chunk } = stored
    this.#options.journal.append({ audio, lines: [formatLogRecord({ kind: 'chunk', chunk })] })
  }

  #release(position: number): void {
    const { chunks, timeout } = this.#held!
    timeout?.clear()
    this.#held = undefined
    this.#chunkPositions.continueAt(position)
    for (const chunk of chunks) this.#store(chunk)
  }

  #store({ bytes, arrivedAt }: ArrivedChunk): void {
    if (this.#isRefused) return // What was on its way has the same wrong format.
    const { sessionId, journal, outbox, metrics = noMetrics } = this.#options
    const at = wallNow()
    if (this.#chunkPositions.received === 0) {
      const warning = warnOfFileFormat(bytes)
      if (warning) this.#options.warn?.(warning)
    }
    const acceptedChunk = this.#chunkPositions.add(bytes, at)
    if ('problem' in acceptedChunk) {
      this.#isRefused = true
      const error = { status_code: 400, exception: 'InvalidChunk', message: acceptedChunk.problem }
      outbox.send({ type: 'audio_chunk', acknowledged: false, error, data: null })
      outbox.disconnect(closeCodes.misuse) // No further chunk can fix this.
      return
    }
    const { stored } = acceptedChunk
    const text = outbox.wantsAcks
      ? rangeAcknowledgment(acceptedChunk, { sessionId, at })
      : undefined
    const lines: string[] = []
    if (stored) lines.push(formatLogRecord({ kind: 'chunk', chunk: stored.chunk }))
    // The record of an entirely new chunk implies how it was acknowledged.
    const impliesAck = stored && !stored.chunk.isPart
    if (text && !impliesAck) lines.push(formatLogRecord({ kind: 'message', head: ackHead, text }))
    const appended = journal.append({ ...(stored && { audio: stored.audio }), lines })
    void appended.durable.then(() => {
      if (text) outbox.acknowledge(text)
      metrics.stored(arrivedAt)
    })
  }
}
