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
  class OfflineSpeakerDiarization {
    readonly sampleRate: number
    constructor(config: Config)
    setConfig(config: { clustering: Clustering }): void
    process(samples: Float32Array): SpeakerSegment[]
  }
  const sherpa: { OfflineSpeakerDiarization: typeof OfflineSpeakerDiarization }
  // biome-ignore lint/style/noDefaultExport: the form of the package, which is CommonJS
  export default sherpa
}
