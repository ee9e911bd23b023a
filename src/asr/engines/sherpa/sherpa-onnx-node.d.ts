/** The part of the package that we use; it has no types of its own. */
declare module 'sherpa-onnx-node' {
  /** Clustering of embeddings: into `numClusters`, or -1 for as many as `threshold` gives. */
  export type Clustering = { numClusters: number; threshold: number }
  /** Seconds; `speaker` counts from 0. */
  export type SpeakerSegment = { start: number; end: number; speaker: number }
  type Config = {
    segmentation: { pyannote: { model: string }; numThreads: number }
    embedding: { model: string; numThreads: number }
    clustering: Clustering
    minDurationOn: number
    minDurationOff: number
  }
  export class OfflineSpeakerDiarization {
    readonly sampleRate: number
    constructor(config: Config)
    setConfig(config: { clustering: Clustering }): void
    process(samples: Float32Array): SpeakerSegment[]
  }

  export type Waveform = { samples: Float32Array; sampleRate: number }
  /** Both kinds of recognizers take settings in groups, one group per family of models. */
  export type RecognizerConfig = {
    featConfig: { sampleRate: number; featureDim: number }
    modelConfig: Record<string, unknown>
    decodingMethod?: string
    hotwordsScore?: number
  }
  /** Seconds per token; lists are empty where a model has no such values. */
  export type OfflineResult = {
    lang: string
    text: string
    tokens: string[]
    timestamps: number[]
    durations: number[]
    ys_log_probs: number[]
  }
  export type OnlineResult = {
    text: string
    tokens: string[]
    timestamps: number[]
    ys_probs: number[]
  }
  export class OfflineStream {
    acceptWaveform(wave: Waveform): void
  }
  export class OfflineRecognizer {
    constructor(config: RecognizerConfig)
    createStream(hotwords?: string): OfflineStream
    setConfig(config: RecognizerConfig): void
    decodeAsync(stream: OfflineStream): Promise<OfflineResult>
  }
  export class OnlineStream {
    acceptWaveform(wave: Waveform): void
    inputFinished(): void
    setOption(key: string, value: string): void
  }
  export class OnlineRecognizer {
    constructor(config: RecognizerConfig)
    createStream(): OnlineStream
    isReady(stream: OnlineStream): boolean
    decode(stream: OnlineStream): void
    getResult(stream: OnlineStream): OnlineResult
  }
  const sherpa: {
    OfflineSpeakerDiarization: typeof OfflineSpeakerDiarization
    OfflineRecognizer: typeof OfflineRecognizer
    OnlineRecognizer: typeof OnlineRecognizer
  }
  // biome-ignore lint/style/noDefaultExport: the form of the package, which is CommonJS
  export default sherpa
}
