import type { RecognizerCapabilities, Segment } from '../../../src/asr/engines/recognizer.ts'
import { languagesOf, selectModels } from '../../../src/asr/model-selection/select-models.ts'
import { diarizeChannels, type SpeakerWork } from '../../../src/asr/speakers/diarize-channels.ts'
import type { Batch, SpeechEngine } from '../../../src/asr/speech-engine.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import type { Word } from '../../../src/transcript/transcript.ts'
import { createFakeLiveEngine, type FakeLiveOptions } from './fake-live-engine.ts'

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
  /** Translates what is said in these languages, as if a multilingual model were installed. */
  translated?: readonly string[]
  /** Called with each language and seconds that are translated. */
  onTranslate?: (language: string, seconds: number) => void
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
  const { model: id = 'fake', languages = ['en'] } = options
  const defaults = { languages, wordTimes: true, maxSeconds: 30, vocabulary: false }
  const recognizer = { id, capabilities: { ...defaults, ...options.capabilities } }
  const available = { finals: [recognizer], partials: [recognizer] }
  const speakers = fakeSpeakers(options)
  return {
    languages: languagesOf(available),
    selectModels: (request) => selectModels(request, available),
    workers: 2,
    live: createFakeLiveEngine(words, options),
    async groupChannels({ channels, mode }) {
      const members = channels.map(({ channel }) => channel)
      if (mode === 'mix') return [{ ...channels[0]!, channel: 0, sourceChannels: members }]
      return channels.map((recording) => ({ ...recording, sourceChannels: [recording.channel] }))
    },
    async planRecognition(channels, settings, { signal, checkpointSpeech = (_, find) => find() }) {
      signal.throwIfAborted()
      const batches: Batch[] = []
      for (const { channel, path, samples } of channels) {
        const segments = await checkpointSpeech({ channel, maxSeconds: 5 }, async () =>
          cutEvenly(samples),
        )
        // Like the real engine, not in order of time.
        for (const odd of [0, 1]) {
          const half = segments.filter((_, i) => i % 2 === odd)
          batches.push(...half.map((one) => ({ channel, path, segments: [one], ...settings })))
        }
      }
      return batches
    },
    identifyLanguages: async (batches) => [...batches],
    translatedLanguages: options.translated ?? [],
    async translate({ segments, language }, { signal }) {
      signal.throwIfAborted()
      return segments.map(({ start, end }) => {
        options.onTranslate?.(language, (end - start) / SAMPLE_RATE)
        return `heard ${text}`
      })
    },
    async runBatch({ segments, model, language = languages[0]! }, { signal }) {
      await options.onBatch?.(segments, signal)
      signal.throwIfAborted()
      const warnings = [...(options.warnings ?? [])]
      return segments.map((segment) => {
        const recognized = recognizeSegment(segment, { words, confidence: options.confidence })
        return { segment, words: recognized, model, language, uncovered: 0, warnings }
      })
    },
    diarize: (task, diarizing) => diarizeChannels(speakers, task, diarizing),
    async checkReady() {},
    async close() {},
  }
}

function fakeSpeakers({ onEmbeddings }: Pick<FakeOptions, 'onEmbeddings'>): SpeakerWork {
  return {
    workers: 2,
    model: 'fake',
    plan: (words) => (words.length > 0 ? [[{ start: 0, end: SAMPLE_RATE }]] : []),
    async embed({ to }, signal) {
      await onEmbeddings?.(to)
      signal.throwIfAborted()
    },
    // Speakers take turns, one utterance each, in order.
    async findSpeakers({ transcript, counts }) {
      const number = counts.exact || 2
      return transcript.utterances.map((utterance, i) => {
        return { ...utterance, speaker: i % number, speakerConfidence: 0.8 }
      })
    },
  }
}

/** Each five seconds are a segment. */
function cutEvenly(samples: number): Segment[] {
  const length = 5 * SAMPLE_RATE
  return Array.from({ length: Math.ceil(samples / length) }, (_, i) => {
    return { start: i * length, end: Math.min(samples, (i + 1) * length) }
  })
}

function recognizeSegment(
  segment: Segment,
  { words, confidence = 0.9 }: { words: readonly string[]; confidence: number | undefined },
): Word[] {
  const start = segment.start / SAMPLE_RATE
  const step = (segment.end - segment.start) / SAMPLE_RATE / words.length
  return words.map((text, i) => {
    return { text, start: start + i * step, end: start + (i + 0.8) * step, confidence }
  })
}
