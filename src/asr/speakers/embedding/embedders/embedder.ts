/** A range of speech in samples at 16 kHz, end exclusive. */
export type Region = { start: number; end: number }

/**
 * The grid of windows in a region: their length, and the distance between starts; in samples at 16
 * kHz.
 */
export type WindowGrid = { length: number; hop: number }

/** The speaker embedding of one window; `embedding` has length 1, so a dot product is a cosine. */
export type WindowEmbedding = Region & { embedding: Float32Array }

/** `grids` are the requested windows, each in all regions; by default `defaultGrid` alone. */
export type EmbedOptions = { signal: AbortSignal; grids?: readonly WindowGrid[] }

/**
 * A loaded speaker embedding model. Implementations: `xvector-embedder.ts`, which is built in,
 * and `fbank-embedder.ts` for models that the operator installs.
 */
export type SpeakerEmbedder = {
  /** Length of an embedding. */
  readonly dimension: number
  /**
   * Embeds the regions of `samples` (mono, 16 kHz, -1 to 1); regions ascend and do not overlap.
   * Returns the windows by region, then grid, then start: the last of a region ends with it, a
   * region shorter than a window is one window of its own length, and a region that is too short
   * gives none. Equal input gives equal output. Rejects with the reason of `signal`, and with
   * RangeError for a region outside the samples.
   */
  embed(
    samples: Float32Array,
    regions: readonly Region[],
    options: EmbedOptions,
  ): Promise<WindowEmbedding[]>
  close(): Promise<void>
}

/**
 * 1.5 s every 0.75 s, as in the recipe that the built-in model was trained with (Kaldi,
 * callhome_diarization v2).
 */
export const defaultGrid: WindowGrid = { length: 24_000, hop: 12_000 }
