/** One recognised word. Times are seconds from the start of the recording; `text` has no blanks around it. */
export type Word = { text: string; start: number; end: number; confidence: number }

/** What one speaker says in one breath: words between two pauses, on one channel. */
export type Utterance = {
  channel: number
  language: string
  words: Word[]
  /** From diarization, numbered from 0 by first appearance; absent without it. */
  speaker?: number
  /** From 0 to 1, how sure the speaker is; only where that was asked for. */
  speakerConfidence?: number
}

/** What was redacted: its type by the name of the API, and what is written in its place. Seconds. */
export type HiddenEntity = { type: string; text: string; start: number; end: number }

/** A recording as text: utterances of all channels by start, then channel. */
export type Transcript = {
  utterances: Utterance[]
  /** Of a redacted transcript: what is no longer to be read in it. */
  hidden?: HiddenEntity[]
}
