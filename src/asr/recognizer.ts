import type { Word } from '../transcript/transcript.ts'

/** What a loaded model can do. */
export type RecognizerCapabilities = {
  languages: readonly string[]
  wordTimes: boolean
  /** Longest audio of one call, in seconds. */
  maxSeconds: number
}

/** `warnings` names each option the engine had to ignore; ignoring one is never an error. */
export type Recognition = {
  /** Times in seconds from the start of the segment. */
  words: Word[]
  language: string
  /** Mean natural logarithm of the token probabilities: how sure the model was of the whole. */
  logProbability: number
  /** False when the text was cut because it looped or grew too long for the audio. */
  complete: boolean
  warnings: string[]
}

/** What is there of speech that is not over: words with rough times. */
export type OpenRecognition = {
  words: Word[]
  /** How many of `words`, from the first on, were the same in the draft. */
  agreed: number
  language: string
  logProbability: number
  /** To be given as draft of the next, longer piece of the same speech. */
  tokens: number[]
}

/** Seconds of processor time: to take in a piece of sound, and for each token of its text. */
export type RecognizerCosts = { begin: number; token: number }

/** What is asked of one call. */
export type RecognizeOptions = {
  language?: string
  /** Forbids an empty answer: for speech that came back without words. */
  forceNonEmpty?: boolean
  signal: AbortSignal
}

/**
 * A loaded model that turns speech into words, living in a worker process. It takes several segments
 * of 16 kHz mono samples (-1 to 1) at once, and answers one recognition per segment, in order.
 * Implementations: `engines/*.ts`.
 */
export type Recognizer = {
  readonly id: string
  readonly capabilities: RecognizerCapabilities
  recognize(segments: readonly Float32Array[], options: RecognizeOptions): Promise<Recognition[]>
  /** Hears speech that goes on; the tokens of its last recognition as `draft` make it cheaper. */
  recognizeOpen(
    audio: Float32Array,
    options: { draft: readonly number[]; forceNonEmpty?: boolean; signal: AbortSignal },
  ): Promise<OpenRecognition>
  /** Measures what `seconds` of sound cost when `drafted` tokens of the text are given with it. */
  measureCost(seconds: number, options: { drafted: number }): Promise<RecognizerCosts>
  close(): Promise<void>
}
