/** What a process for sherpa-onnx loads. Plain data. */
export type SherpaSetup = {
  folder: string
  /** `cpu`, or another execution provider of the installed library. */
  provider: string
}

/** One segment to recognize, 16 kHz mono. */
export type SherpaTask =
  | {
      kind: 'recognize'
      samples: Float32Array
      /** For models that need it. */
      language?: string
      /** Vocabulary phrases separated by slashes; see `encodeHotwords`. */
      hotwords?: string
    }
  /** Continues a stream with more audio, or begins one where `stream` is not known. */
  | {
      kind: 'continue'
      stream: number
      /** All audio of the stream so far, of which `from` samples were given before. */
      samples: Float32Array
      from: number
      language?: string
      isLast: boolean
    }

/** Tokens with the seconds at which they begin; lists are empty where the model has none. */
export type SherpaText = {
  text: string
  tokens: string[]
  times: number[]
  durations: number[]
  logProbs: number[]
  /** As the model names it; empty where it does not. */
  language: string
  /** Processor seconds. */
  cost: number
}

export type ToSherpa = { id: number; task: SherpaTask }
export type FromSherpa =
  | { type: 'ready' }
  | { type: 'broken'; problem: string }
  | { type: 'result'; id: number; result: SherpaText }
  | { type: 'error'; id: number; problem: string }
