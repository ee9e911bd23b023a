import { moonshineThresholds } from '../../../src/asr/engines/moonshine/capabilities.ts'
import type { Recognizer } from '../../../src/asr/engines/recognizer.ts'

/**
 * Creates a recognizer that takes any audio for a single word, which tells its id and the options
 * of the call. It has no bias for a vocabulary, and says so.
 */
function createEcho(
  id: string,
  languages: readonly string[],
  { maxSeconds = 30 } = {},
): Recognizer {
  return {
    id,
    capabilities: { languages, wordTimes: true, maxSeconds, vocabulary: true },
    thresholds: moonshineThresholds,
    async recognize(segments, { language = languages[0]!, vocabulary }) {
      return segments.map((audio) => ({
        words: [wordOf(`${id} ${language} ${vocabulary}`, audio)],
        language,
        logProbability: -0.1,
        complete: true,
        warnings: vocabulary.length > 0 ? [`${id} ignored the vocabulary`] : [],
      }))
    },
    async recognizePartial(audio, { language = languages[0]!, vocabulary }) {
      const words = [wordOf(`${id} ${language} ${vocabulary}`, audio)]
      return { words, agreed: 1, language, logProbability: -0.1, tokens: [1] }
    },
    measureCost: async () => ({ encode: 0.1, perToken: 0.01 }),
    async close() {},
  }
}

function wordOf(text: string, audio: Float32Array) {
  return { text, start: 0, end: audio.length / 16_000, confidence: 0.9 }
}

/** The recognizers of `two-recognizers-worker.ts`. */
export const echoes = {
  finals: [createEcho('english', ['en']), createEcho('others', ['fr', 'de'], { maxSeconds: 5 })],
  partials: [createEcho('small', ['en']), createEcho('small others', ['fr'])],
}
