import type { RecognizedSegment, Segment, SpeechEngine } from '../speech-engine.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'
import { createFakeLiveRecognizer, type FakeLiveOptions } from './fake-live.ts'

/** How the fake engine behaves. */
export type FakeOptions = FakeLiveOptions & {
  /**
   * Called before each batch is answered: a rejection fails the batch, a pending promise delays it.
   */
  onBatch?: (batch: readonly Segment[], signal: AbortSignal) => Promise<void> | void
  /**
   * Called before the speakers of a region are embedded, with the path of the file for the
   * embeddings.
   */
  onEmbeddings?: (to: string) => Promise<void> | void
  languages?: readonly string[]
}

/**
 * A speech engine for tests of other modules: it makes each five seconds of a recording one segment
 * and recognizes `text` in each, its words spread evenly. Live, it recognizes `text` wherever the
 * audio is not silent.
 */
export function createFakeSpeechEngine(text: string, options: FakeOptions = {}): SpeechEngine {
  const words = text.split(' ').filter((word) => word !== '')
  const segmentSamples = 5 * SAMPLE_RATE
  return {
    languages: options.languages ?? ['en'],
    workers: 2,
    live: createFakeLiveRecognizer(words, options),
    async findSpeech({ samples }, { signal, onProgress }) {
      signal.throwIfAborted()
      onProgress?.(1)
      const count = Math.ceil(samples / segmentSamples)
      return Array.from({ length: count }, (_, i) => {
        return { start: i * segmentSamples, end: Math.min(samples, (i + 1) * segmentSamples) }
      })
    },
    // Like the real engine, not in order of time.
    planBatches: (segments) =>
      [0, 1].flatMap((odd) => segments.filter((_, i) => i % 2 === odd).map((s) => [s])),
    async recognize(_pcm, batch, { signal, language = 'en' }) {
      await options.onBatch?.(batch, signal)
      signal.throwIfAborted()
      return batch.map((segment) => recognizeSegment(segment, words, language))
    },
    speakerModel: 'fake',
    planEmbeddings: (words) => (words.length > 0 ? [[{ start: 0, end: SAMPLE_RATE }]] : []),
    async embedSpeakers(_pcm, _regions, { signal, to }) {
      await options.onEmbeddings?.(to)
      signal.throwIfAborted()
    },
    // Speakers take turns, one utterance each, in order.
    async findSpeakers({ transcript, counts }) {
      const speakers = counts.exact || 2
      return transcript.utterances.map((utterance, i) => {
        return { ...utterance, speaker: i % speakers, speakerConfidence: 0.8 }
      })
    },
    async checkReady() {},
    async close() {},
  }
}

function recognizeSegment(
  segment: Segment,
  texts: readonly string[],
  language: string,
): RecognizedSegment {
  const start = segment.start / SAMPLE_RATE
  const step = (segment.end - segment.start) / SAMPLE_RATE / texts.length
  const words = texts.map((text, i) => {
    return { text, start: start + i * step, end: start + (i + 0.8) * step, confidence: 0.9 }
  })
  return { segment, words, language, uncovered: 0, warnings: [] }
}
