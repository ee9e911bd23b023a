import type { Word } from '../transcript/transcript.ts'
import type { LiveEars } from './live-ears.ts'

/** Samples per second of all PCM that reaches recognition. */
export const SAMPLE_RATE = 16_000

/** A stretch of one channel that holds speech, at most 15 s long. Sample counts, end exclusive. */
export type Segment = { start: number; end: number }

/** What was heard in one segment. Word times are seconds from the start of the recording. */
export type RecognizedSegment = {
  segment: Segment
  words: Word[]
  language: string
  /** Voiced seconds that stayed without words after the retries. */
  uncovered: number
  /** Options the engine had to ignore. */
  warnings: string[]
}

/** A mono file of 16-bit little-endian samples at 16 kHz, as the decoder writes it. */
export type PcmFile = { path: string; samples: number }

/** How a call is stopped, and where its progress (0 to 1) goes. */
export type EngineOptions = { signal: AbortSignal; onProgress?: (fraction: number) => void }

/**
 * The ears of the service: what `jobs` and `live` see of this room. Work runs in worker processes; a
 * crashed or hung one rejects the call with `engine_failed` and is replaced. Equal input gives equal
 * output, byte for byte.
 */
export type SpeechEngine = {
  /** Languages that some installed model knows, best first. */
  readonly languages: readonly string[]
  /** Worker processes, hence batches that can be heard at the same time. */
  readonly workers: number
  /** Finds the speech of one channel and cuts it at pauses; segments ascend and do not overlap. */
  findSpeech(pcm: PcmFile, options: EngineOptions): Promise<Segment[]>
  /** Groups segments into batches that are recognised together; depends on the segments only. */
  planBatches(segments: readonly Segment[]): Segment[][]
  /** Recognises one batch; the answer has one item per segment, in the same order. */
  recognize(
    pcm: PcmFile,
    batch: readonly Segment[],
    options: EngineOptions & { language?: string },
  ): Promise<RecognizedSegment[]>
  /** Hears live sessions, in processes of its own; undefined when it was made without. */
  readonly live: LiveEars | undefined
  /** Runs a real inference of one second; rejects with `engine_unavailable` when none can be made. */
  checkReady(options: { signal: AbortSignal }): Promise<void>
  close(): Promise<void>
}
