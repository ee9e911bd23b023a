import type { WhisperDescription } from './description.ts'

/** Log-mel features of one piece of audio: mels × frames, mel by mel; a frame is 10 ms. */
export type MelFeatures = { data: Float32Array; frames: number }

/** Encoded pieces of audio; plain memory, given back when nothing refers to it. */
export type EncodedAudio = {
  /** Encoder frames (20 ms) of each piece. */
  readonly frames: readonly number[]
}

/** What a decoder step returns. */
export type DecoderOutput = {
  /** Rows × tokens × vocabulary, one after another; with `lastOnly` one token per row. */
  logits: Float32Array
  /** Tokens per row in `logits`. */
  tokens: number
  /** Rows × alignment heads × fed tokens × `frames`, after softmax, if asked for. */
  attention?: Float32Array
  /** Encoder frames per row of `attention`: the longest piece; past its own a piece has zeros. */
  frames: number
}

/** A decoding of several rows at once. Rows do not affect each other. */
export type WhisperDecoder = {
  /**
   * Reads the next tokens of every row, the same number for each, and keeps them in the cache.
   * Throws `RangeError` past the model's text positions.
   */
  step(
    tokens: readonly (readonly number[])[],
    options?: { attention?: boolean; lastOnly?: boolean },
  ): Promise<DecoderOutput>
  /** Keeps only these rows, in this order; a row may be named several times. */
  keep(rows: readonly number[]): void
  close(): void
}

/** A loaded Whisper model. A call blocks the event loop. */
export type WhisperNetwork = {
  readonly description: WhisperDescription
  /**
   * Encodes pieces of at most 30 s (3000 frames). Shorter input is allowed and cheaper; the models
   * were trained with input padded to 30 s.
   */
  encode(features: readonly MelFeatures[]): Promise<EncodedAudio>
  /** Starts decoding; `items` names the piece of each row, several rows may share one. */
  decoder(audio: EncodedAudio, items: readonly number[]): WhisperDecoder
  close(): Promise<void>
}
