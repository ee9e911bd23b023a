/**
 * Sizes, tokens and languages of a converted Whisper model: the content of `whisper.json`, written
 * by `convertWhisper`.
 */
export type WhisperConfig = {
  /** The version of the format; a model of another version must be converted again. */
  version: 1
  /** `int8`: 8 bits in blocks of 32; `fp32`: floats, for checks. */
  weights: 'int8' | 'fp32'
  /** Width of the states, 384 (tiny) to 1280 (large). */
  hidden: number
  /** Heads per attention, 64 values wide in all published models. */
  heads: number
  encoderLayers: number
  decoderLayers: number
  /** Rows of the log-mel features: 80, or 128 from large-v3 on. */
  mels: number
  /** Encoder frames of 20 ms, two feature frames each: 1500 for 30 s. */
  audioPositions: number
  /** Maximum tokens of a decoding, prompt included: 448. */
  textPositions: number
  /** Tokens, that is, logits per position. */
  vocabulary: number
  /** Cross-attention heads that follow the audio; `attention` of a step has them in this order. */
  alignmentHeads: [layer: number, head: number][]
  /** False for the English-only models, which know neither languages nor tasks. */
  multilingual: boolean
  /** The token of each language by its code (`de`, `yue`); empty for English-only models. */
  languages: Record<string, number>
  tokens: WhisperTokens
  /** Tokens that are never chosen (brackets, notes, special tokens). */
  suppressed: number[]
  /** Tokens that are not chosen as the first one of a text (a space, the end). */
  suppressedAtBegin: number[]
}

/** The sizes of a model. */
export type WhisperSizes = Pick<
  WhisperConfig,
  | 'hidden'
  | 'heads'
  | 'encoderLayers'
  | 'decoderLayers'
  | 'mels'
  | 'audioPositions'
  | 'textPositions'
  | 'vocabulary'
>

/** Ids of the special tokens. English-only models have the same ones, though they use fewer. */
export type WhisperTokens = {
  /** `<|endoftext|>` */
  end: number
  /** `<|startoftranscript|>` */
  start: number
  translate: number
  transcribe: number
  /** `<|startofprev|>`: before a prompt. */
  startOfPrevious: number
  /** `<|nospeech|>`, in older vocabularies `<|nocaptions|>`. */
  noSpeech: number
  noTimestamps: number
  /** `<|0.00|>`; each further token is 20 ms later, up to the end of the vocabulary. */
  firstTimestamp: number
}
