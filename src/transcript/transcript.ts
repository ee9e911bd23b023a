/**
 * One recognized word. Times are seconds from the start of the recording; `text` has no surrounding
 * spaces.
 */
export type Word = { text: string; start: number; end: number; confidence: number }

/** The language and the model of recognized words. */
export type RecognitionInfo = {
  language: string
  /** How probable the language is, from 0 to 1; only where it was identified and is reported. */
  languageConfidence?: number
  /** The model and its version; only where it is reported. */
  model?: string
}

/** Speech of one speaker without a pause: the words between two pauses, on one channel. */
export type Utterance = RecognitionInfo & {
  channel: number
  words: Word[]
  /** From diarization, numbered from 0 by first appearance; absent without it. */
  speaker?: number
  /** The confidence in the speaker, 0 to 1; only where it was requested. */
  speakerConfidence?: number
}

/**
 * A redacted entity: its type by the name of the API, and the text that replaces it. Times in
 * seconds.
 */
export type HiddenEntity = { type: string; text: string; start: number; end: number }

/** A recording as text: utterances of all channels by start, then channel. */
export type Transcript = {
  utterances: Utterance[]
  /** The length of the recording in seconds, where it is known. */
  duration?: number
  /** The entities removed from a redacted transcript. */
  hidden?: HiddenEntity[]
}
