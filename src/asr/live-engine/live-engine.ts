import type { AudioFormat } from '../../audio/audio-format.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { DraftText, RecognitionSettings, Segment } from '../engines/recognizer.ts'
import type { LanguageIdentification } from '../model-selection/select-models.ts'

/**
 * The audio of a live session: a growing file of raw frames, and for each channel the file that
 * gets its 16-bit samples at 16 kHz (`asr` writes these, each sample at its own position).
 */
export type LiveAudio = {
  path: string
  /** Byte of the first frame in `path`. */
  start: number
  format: AudioFormat
  /** Whether the audio is denoised before recognition. */
  isDenoised: boolean
  /** Path of each channel's samples. */
  channels: readonly string[]
}

/** VAD results per channel: one value for each frame of `VAD_FRAME` samples at 16 kHz (32 ms). */
export type SpeechFrames = {
  /** Probability of speech, 0 to 1. */
  probabilities: Float32Array[]
  /** Loudness in decibels below full scale (negative). */
  levels: Float32Array[]
}

/** The frame of `VAD_FRAME` samples to start from, and the amount of audio in the file. */
export type DetectRequest = {
  from: number
  /** Frames of the session's own format that `path` holds. */
  frames: number
  /** No more audio follows: the last frame is padded with silence. */
  isEnd: boolean
}

/**
 * `isLowPriority` marks work of a session that is behind: it runs after the work of other sessions.
 */
export type LiveTaskOptions = { signal: AbortSignal; isLowPriority?: boolean }

/** Text of an utterance that is still open. Times are seconds from the start of the session. */
export type PartialResult = {
  words: Word[]
  /** The id of the recognizer. */
  model: string
  language: string
  /** Pass it with the next partial of the same utterance, or its final: it makes them cheaper. */
  draft: readonly number[]
}

/** A speaker embedding, as a vector of length 1, and the seconds of speech that it comes from. */
export type SpeakerEmbedding = { embedding: Float32Array; seconds: number }

/**
 * Final text of an utterance. Times are seconds from the start of the session. `speakerEmbedding`
 * is present if it was requested and there is enough speech; `embeddingError` says why the
 * embedding failed.
 */
export type FinalResult = {
  words: Word[]
  /** The last word of the context before them, if the context was recognized. */
  wordBefore?: string
  /** The id of the recognizer, with its revision where it is known: `id@revision`. */
  model: string
  language: string
  /** How probable the language is, from 0 to 1, where it was identified. */
  languageConfidence?: number
  /** The speech was too short or too unclear to identify its language. */
  isLanguageUnclear?: true
  /** For the user: options that the recognizer had to ignore. */
  warnings: string[]
  speakerEmbedding?: SpeakerEmbedding
  embeddingError?: string
}

/** One utterance on one channel: the file of its samples, and the range that it covers. */
export type LiveUtterance = {
  path: string
  segment: Segment
  /**
   * A longer range around `segment` that is recognized with it: an utterance that was cut within
   * speech lacks the audio before and after it. Only words that begin inside the segment are
   * returned.
   */
  context?: Segment | undefined
}

/**
 * Recognizes speech while it is being spoken. All results depend on audio and position alone: a
 * session that resumes after a crash gets the same results as an undisturbed one, but for rounding
 * where a draft was used (decision 0106) and for finals of a busy machine (decision 0119). A worker
 * that crashes rejects the call with `engine_failed`; the caller may retry.
 */
export type LiveEngine = {
  /**
   * How many sessions with continuous speech this machine can serve in time, with partials at their
   * longest interval; undefined until it is measured, and where it is not.
   */
  readonly capacity: number | undefined
  /** The weight of a session without partials in `capacity`, from 0 to 1. */
  readonly weightWithoutPartials: number
  /**
   * The tasks of the last seconds, running or waiting, per core that live work may use: 0 is idle,
   * above 1 tasks wait. As it grows, partials become rarer and speculative work is skipped.
   */
  readonly load: number
  /**
   * Writes the samples of each channel and detects speech: in as many frames as there is audio for,
   * at most `MAX_DETECT_FRAMES`, fewer with several channels. The lengths of the result give the
   * number.
   */
  detectSpeech(
    audio: LiveAudio,
    request: DetectRequest,
    options: LiveTaskOptions,
  ): Promise<SpeechFrames>
  /**
   * Recognizes an utterance that has ended, and with `wantsEmbedding` computes its speaker
   * embedding. Runs before partials. With `identification`, its language is identified first and
   * determines the settings; if that is unclear, the language of the previous utterance is used.
   */
  recognizeFinal(
    utterance: LiveUtterance,
    options: LiveTaskOptions &
      RecognitionSettings & {
        wantsEmbedding?: boolean
        /**
         * The text of the previous utterance within `context`, and the last partial of this one.
         */
        draft?: DraftText | undefined
        identification?: LanguageIdentification | undefined
        languageBefore?: (() => Promise<string | null>) | undefined
      },
  ): Promise<FinalResult>
  /** Recognizes an utterance that is still open, with the model for partials. */
  recognizePartial(
    utterance: LiveUtterance,
    options: LiveTaskOptions &
      RecognitionSettings & {
        draft?: readonly number[] | undefined
        /** No partial of the utterance was shown yet: a guess is better than nothing. */
        isFirst?: boolean
      },
  ): Promise<PartialResult>
}

/**
 * Two seconds of one channel: catching up takes short steps, so that other sessions do not wait
 * long.
 */
export const MAX_DETECT_FRAMES = 62

/** The most by which the interval between partials grows on a busy machine. */
export const MAX_PARTIAL_INTERVAL_FACTOR = 4
