import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import '../../onnx/no-telemetry.ts'
import type { Clustering, SpeakerSegment } from 'sherpa-onnx-node'
import { REINSTALL } from '../../../config/installation.ts'
import type { SpeakerCounts } from '../../speech-engine.ts'

/** One speaker's turn in a recording, in seconds; turns of different speakers may overlap. */
export type SpeakerTurn = { start: number; end: number; speaker: number }

/**
 * Finds the turns in a recording; speakers are numbered from 0 by first appearance. Blocks until it
 * is done.
 */
export type DiarizationPipeline = {
  find(samples: Float32Array, counts: SpeakerCounts): SpeakerTurn[]
}

/**
 * Cosine distance up to which groups merge, and the shortest turn and pause in seconds: the
 * defaults of sherpa-onnx.
 */
const THRESHOLD = 0.5
const MIN_TURN_SECONDS = 0.3
const MIN_PAUSE_SECONDS = 0.5

/**
 * Loads the pipeline of sherpa-onnx: pyannote segmentation, speaker embeddings, clustering. An
 * exact count sets the number of groups; if the result misses the minimum or maximum, a second
 * round requests it. Rejects when the package is missing. A model that it cannot use crashes the
 * process: never load it in the server process.
 */
export async function openDiarizationPipeline(models: {
  segmentation: string
  embedding: string
}): Promise<DiarizationPipeline> {
  const { default: sherpa } = await import('sherpa-onnx-node').catch((cause) => {
    throw new Error(`the package sherpa-onnx-node does not load: ${REINSTALL}`, { cause })
  })
  const pipeline = new sherpa.OfflineSpeakerDiarization({
    segmentation: { pyannote: { model: models.segmentation }, numThreads: 1 },
    embedding: { model: models.embedding, numThreads: 1 },
    clustering: clusteringFor(0),
    minDurationOn: MIN_TURN_SECONDS,
    minDurationOff: MIN_PAUSE_SECONDS,
  })
  if (pipeline.sampleRate !== SAMPLE_RATE) {
    throw new Error(`the segmentation model is for ${pipeline.sampleRate} Hz, not 16000`)
  }

  function clusterInto(count: number, samples: Float32Array): SpeakerSegment[] {
    pipeline.setConfig({ clustering: clusteringFor(count) })
    return pipeline.process(samples)
  }

  return {
    find(samples, { exact = 0, min = 0, max = 0 }) {
      const segments = clusterInto(exact, samples)
      if (exact > 0) return turnsOf(segments)
      const count = new Set(segments.map(({ speaker }) => speaker)).size
      const allowedCount = max > 0 && count > max ? max : Math.max(count, min)
      return turnsOf(
        count === 0 || allowedCount === count ? segments : clusterInto(allowedCount, samples),
      )
    },
  }
}

function clusteringFor(count: number): Clustering {
  return { numClusters: count > 0 ? count : -1, threshold: THRESHOLD }
}

function turnsOf(segments: readonly SpeakerSegment[]): SpeakerTurn[] {
  const sorted = segments.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const order = [...new Set(sorted.map(({ speaker }) => speaker))]
  return sorted.map(({ start, end, speaker }) => ({ start, end, speaker: order.indexOf(speaker) }))
}
