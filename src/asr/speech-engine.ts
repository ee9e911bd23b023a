import type { Transcript, Utterance, Word } from '../transcript/transcript.ts'
import type { LiveRecognizer } from './live-recognizer.ts'

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

/** Speakers asked for, over all channels; an exact count wins, 0 and undefined bind nothing. */
export type SpeakerCounts = { exact?: number; min?: number; max?: number }

/** The words of a recording, and the files in which its voices were kept, by channel. */
export type SpeakerTask = {
  transcript: Transcript
  voices: readonly { channel: number; files: readonly string[] }[]
  counts: SpeakerCounts
}

/** An utterance with its speaker, and from 0 to 1 how sure that is. */
export type SpeakerUtterance = Utterance & { speaker: number; speakerConfidence: number }

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
  /** The model that hears voices, as part of a file name: files of different ones have nothing in common. */
  readonly speakerModel: string
  /**
   * Where the voices of one channel are listened to: around its words, which ascend, or everywhere. Groups of
   * regions, each of them for one call of `hearVoices`; depends on words, length and `voiceModel` only.
   */
  planEmbeddings(words: readonly Word[], pcm: PcmFile): Segment[][]
  /**
   * Hears what the voices in some regions sound like, and keeps that in the file `to`, all of it or nothing.
   * `counts` are those of this channel, where they are known. Rejects with `speaker_model_unusable` when a model
   * that was added cannot be used.
   */
  embedSpeakers(
    pcm: PcmFile,
    regions: readonly Segment[],
    options: EngineOptions & { to: string; counts?: SpeakerCounts },
  ): Promise<void>
  /** Tells who said each word; utterances are cut anew, each has one speaker. */
  findSpeakers(task: SpeakerTask, options: EngineOptions): Promise<SpeakerUtterance[]>
  /** Hears live sessions, in processes of its own; undefined when it was made without. */
  readonly live: LiveRecognizer | undefined
  /** Runs a real inference of one second; rejects with `engine_unavailable` when none can be made. */
  checkReady(options: { signal: AbortSignal }): Promise<void>
  close(): Promise<void>
}
