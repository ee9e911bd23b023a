import type { AudioFormat } from '../audio/audio-format.ts'
import type { Word } from '../transcript/transcript.ts'
import type { Segment } from './speech-engine.ts'

/**
 * The sound of a live session: a file of raw frames that grows, and for each channel the file that gets
 * its 16-bit samples at 16 kHz (`asr` writes these, at the place that belongs to each sample).
 */
export type LiveAudio = {
  path: string
  /** Byte of the first frame in `path`. */
  start: number
  format: AudioFormat
  /** Whether noise is cleaned away before anything is recognised. */
  isEnhanced: boolean
  /** Path of each channel's samples. */
  channels: readonly string[]
}

/** What was heard, per channel: values for each frame of `VAD_FRAME` samples at 16 kHz (32 ms). */
export type SpeechFrames = {
  /** Probability of speech, 0 to 1. */
  probabilities: Float32Array[]
  /** Loudness in decibels below full scale (negative). */
  levels: Float32Array[]
}

/** From which frame of `VAD_FRAME` samples on to listen, and how much sound is there. */
export type DetectRequest = {
  from: number
  /** Frames of the session's own format that `path` holds. */
  frames: number
  /** No more sound follows: the last frame is filled up with silence. */
  isEnd: boolean
}

/** Ranks a task: live work of a session that is behind goes after that of those that are not. */
export type LiveTaskOptions = { signal: AbortSignal; isBehind?: boolean }

/** Text of an utterance that is still open. Times are seconds from the start of the session. */
export type Partial = {
  words: Word[]
  language: string
  /** To be given with the next partial of the same utterance: makes it cheaper. */
  draft: readonly number[]
}

/** What a voice sounds like, as a direction of length 1, and the seconds of speech that tell it. */
export type SpeakerEmbedding = { embedding: Float32Array; seconds: number }

/**
 * Final text of an utterance. Times are seconds from the start of the session. `voice` is there if it was asked for
 * and there is enough of it; `voiceError` says why it could not be heard.
 */
export type Final = {
  words: Word[]
  language: string
  warnings: string[]
  voice?: SpeakerEmbedding
  speakerError?: string
}

/** One utterance on one channel: where its samples lie, and which of them it holds. */
export type LiveUtterance = {
  path: string
  segment: Segment
  /**
   * A longer stretch around `segment` that is heard with it, though only words that begin inside the
   * segment are told: an utterance that was cut within speech lacks the sound behind and before it.
   */
  context?: Segment | undefined
}

/**
 * What hears while it is being spoken. All of it is a function of sound and position alone: a session
 * that is taken up again after a crash hears what an undisturbed one would have heard. A worker that
 * crashes rejects the call with `engine_failed`; the call may be made again.
 */
export type LiveRecognizer = {
  /**
   * How many sessions this machine can carry that speak all the time, if it leaves out partials when it
   * has to; undefined while it is not measured yet.
   */
  readonly capacity: number | undefined
  /**
   * Writes the samples of each channel, and hears where there is speech: as many frames as there is
   * sound for, but no more than `MAX_LISTEN_FRAMES`. The lengths of the answer tell how many.
   */
  listen(sound: LiveAudio, request: DetectRequest, options: LiveTaskOptions): Promise<SpeechFrames>
  /** Hears an utterance that has ended, with `wantsVoice` also who speaks. Goes before partials. */
  recognizeFinal(
    utterance: LiveUtterance,
    options: LiveTaskOptions & { language?: string | undefined; wantsSpeaker?: boolean },
  ): Promise<Final>
  /** Hears what is there of an open utterance, with a smaller model. */
  recognizePartial(
    utterance: LiveUtterance,
    options: LiveTaskOptions & {
      language?: string | undefined
      draft?: readonly number[] | undefined
      /** Nothing was shown of the utterance yet: a guess is better than nothing. */
      isFirst?: boolean
    },
  ): Promise<Partial>
}

/** Samples at 16 kHz per frame: 32 ms. The same as `VAD_FRAME`, without the detector behind it. */
export const FRAME_SAMPLES = 512

/** Two seconds: catching up goes in steps that other sessions need not wait long for. */
export const MAX_DETECT_FRAMES = 62
