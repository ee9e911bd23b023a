import type { Word } from '../../transcript/transcript.ts'
import type { RecognizerCapabilities } from '../recognizer.ts'
import { languagesOf, routeRecognition } from '../routing.ts'
import type { Segment, SpeechEngine } from '../speech-engine.ts'
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
  /** The id of its recognizer, and what that can do. */
  model?: string
  capabilities?: Partial<RecognizerCapabilities>
  languages?: readonly string[]
  /** Warnings of each result. */
  warnings?: readonly string[]
}

/**
 * A speech engine for tests of other modules: it makes each five seconds of a recording one segment
 * and recognizes `text` in each, its words spread evenly. Live, it recognizes `text` wherever the
 * audio is not silent.
 */
export function createFakeSpeechEngine(text: string, options: FakeOptions = {}): SpeechEngine {
  const words = text.split(' ').filter((word) => word !== '')
  const segmentSamples = 5 * SAMPLE_RATE
  const { model: id = 'fake', languages = ['en'] } = options
  const usual = { languages, wordTimes: true, maxSeconds: 30, vocabulary: false }
  const recognizer = { id, capabilities: { ...usual, ...options.capabilities } }
  const available = { finals: [recognizer], partials: [recognizer] }
  return {
    languages: languagesOf(available),
    route: (request) => routeRecognition(request, available),
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
    async recognize(_pcm, batch, { signal, model, language = languages[0]! }) {
      await options.onBatch?.(batch, signal)
      signal.throwIfAborted()
      const warnings = [...(options.warnings ?? [])]
      return batch.map((segment) => {
        const recognized = recognizeSegment(segment, words)
        return { segment, words: recognized, model, language, uncovered: 0, warnings }
      })
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

function recognizeSegment(segment: Segment, texts: readonly string[]): Word[] {
  const start = segment.start / SAMPLE_RATE
  const step = (segment.end - segment.start) / SAMPLE_RATE / texts.length
  return texts.map((text, i) => {
    return { text, start: start + i * step, end: start + (i + 0.8) * step, confidence: 0.9 }
  })
}
