import type { Word } from '../../transcript/transcript.ts'

/** What a model can do. */
export type RecognizerCapabilities = {
  languages: readonly string[]
  /** Whether word times are measured; otherwise the recognizer spreads words over the audio. */
  wordTimes: boolean
  /** Longest segment, in seconds: it is slower or less accurate with longer ones. */
  maxSeconds: number
  /** Whether it prefers the words of a given vocabulary. */
  vocabulary: boolean
  /** Whether it has `identifyLanguage`; default: no. */
  identifiesLanguages?: boolean
  /** Whether it has `translate`; default: no. */
  translates?: boolean
}

/**
 * Rough figures, from publications, that only serve to order models: the share of words that it
 * gets wrong, and the processor seconds that it takes for a second of speech.
 */
export type RecognizerEstimate = { wer: number; realTimeFactor: number }

/** A model that can be loaded: what is known of it without loading it. */
export type RecognizerInfo = {
  readonly id: string
  /** The commit or version of its weights, where it is known. */
  readonly revision?: string
  readonly capabilities: RecognizerCapabilities
  /** When absent, the model is taken to be accurate and fast. */
  readonly estimate?: RecognizerEstimate
  /**
   * The models of the API that prefer it to others of a language, which they use where there are
   * any; absent: all choose it by its estimate.
   */
  readonly preferredBy?: readonly string[]
}

/**
 * When the results of a recognizer are trusted, tuned for each model. Log probabilities are means
 * over the tokens of a text.
 */
export type RecognizerThresholds = {
  /** The result of a retry is accepted only at this log probability. */
  minRetryLogProb: number
  /** A first result below this log probability needs support from the VAD. */
  minLogProb: number
  /** In noise, a word is kept from this confidence on. */
  minConfidenceInNoise: number
  /** An open utterance is shown from this log probability on. */
  minPartialLogProb: number
  /** A late word of an open utterance must be this likely. */
  minPartialWordConfidence: number
}

/** What every recognition task says about how to recognize. Plain data. */
export type RecognitionSettings = {
  /** The id of the recognizer. */
  model: string
  /** The id of another one, whose words are joined with those of the first. */
  fusedWith?: string
  /** Undefined leaves the choice among `languages` to the recognizer. */
  language: string | undefined
  /** The languages to choose from; an empty list stands for all that the recognizer knows. */
  languages: readonly string[]
  /** Words and phrases that the recognizer prefers. */
  vocabulary: readonly string[]
}

/** `warnings` names each option that the engine had to ignore; ignoring one is never an error. */
export type Recognition = {
  /** Times in seconds from the start of the segment. */
  words: Word[]
  language: string
  /**
   * Mean natural logarithm of the token probabilities: how confident the model is in the whole
   * text.
   */
  logProbability: number
  /** False when the text was cut because it looped or grew too long for the audio. */
  complete: boolean
  warnings: string[]
}

/** The text so far of speech that goes on: words with rough times. */
export type PartialRecognition = {
  words: Word[]
  /** How many of `words`, from the first on, match the draft. */
  agreed: number
  language: string
  logProbability: number
  /** Pass them as the draft of the next, longer segment of the same speech. */
  tokens: number[]
}

/** A language that speech may be in, and how probable that is, from 0 to 1. */
export type LanguageProbability = { language: string; probability: number }

/** Processor seconds: `encode` for a segment, `perToken` for each token of its text. */
export type RecognizerCosts = { encode: number; perToken: number }

/**
 * The probable text of speech: the `text` at its beginning, as any recognizer writes it, and the
 * tokens that follow, by the vocabulary of the recognizer `model`.
 */
export type DraftText = { text: string; model?: string | undefined; tokens: readonly number[] }

/** Options of one call. */
export type RecognizeOptions = Omit<RecognitionSettings, 'model' | 'fusedWith'> & {
  /** Forbids an empty result: for speech that came back without words. */
  forceNonEmpty?: boolean
  /**
   * The probable text of a single segment. A recognizer that can verify it needs less time; others
   * ignore it.
   */
  draft?: DraftText | undefined
  /** The text is needed at once: searches that take several times as long are left out. */
  isUrgent?: boolean
  signal: AbortSignal
}

/** Options of one call for speech that goes on; `draft` are the tokens of the call before. */
export type PartialRecognizeOptions = Omit<RecognizeOptions, 'draft'> & { draft: readonly number[] }

/**
 * A loaded model that turns speech into words, in a worker process. It takes several segments of 16
 * kHz mono samples (-1 to 1) at once, and returns one recognition per segment, in order.
 * Implementations: `engines/*.ts`.
 */
export type Recognizer = RecognizerInfo & {
  readonly thresholds: RecognizerThresholds
  recognize(segments: readonly Float32Array[], options: RecognizeOptions): Promise<Recognition[]>
  /**
   * Recognizes an utterance that is still in progress; the tokens of the previous recognition as
   * `draft` make it cheaper.
   */
  recognizePartial(
    audio: Float32Array,
    options: PartialRecognizeOptions,
  ): Promise<PartialRecognition>
  /**
   * Returns the languages that the speech may be in, the most probable first. Considers `languages`
   * only; an empty list stands for all that the model knows. `isRough` is for one of many windows
   * of the same speech: it costs less. Undefined for models that cannot.
   */
  identifyLanguage?(
    audio: Float32Array,
    options: { languages: readonly string[]; isRough?: boolean; signal: AbortSignal },
  ): Promise<LanguageProbability[]>
  /**
   * Translates each segment, spoken in `language`, into English. Undefined for models that cannot.
   */
  translate?(
    segments: readonly Float32Array[],
    options: { language: string; signal: AbortSignal },
  ): Promise<string[]>
  /** Measures the cost of `seconds` of audio with `drafted` tokens of its text. */
  measureCost(seconds: number, options: { drafted: number }): Promise<RecognizerCosts>
  close(): Promise<void>
}

/**
 * A range of one channel that holds speech. In samples, end exclusive. `pauses` are the ranges in
 * it that recognition leaves out, where speech comes in short fragments. `languageConfidence` is
 * how probable its language is, from 0 to 1, where it was identified.
 */
export type Segment = {
  start: number
  end: number
  pauses?: { start: number; end: number }[]
  languageConfidence?: number
}
