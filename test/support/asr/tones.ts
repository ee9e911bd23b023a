/** Speech for tests: tones, whose pitch is the language, and models that recognize it. */

import { moonshineThresholds } from '../../../src/asr/engines/moonshine/capabilities.ts'
import type {
  LanguageProbability,
  Recognizer,
  RecognizerInfo,
} from '../../../src/asr/engines/recognizer.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import type { LocalModel } from '../../../src/models/install/installed-models.ts'

/** The pitch of each language, in hertz. */
const pitches: Readonly<Record<string, number>> = { en: 200, fr: 300, de: 400, es: 500 }

/** A span of speech, or of silence if it has no language. */
export type Spoken = { language?: string; seconds: number }

/** Returns the samples of some spans, 16-bit at 16 kHz. */
export function synthesizeSpeech(spans: readonly Spoken[]): Buffer {
  const parts = spans.map(({ language, seconds }) => {
    const samples = new Int16Array(Math.round(seconds * SAMPLE_RATE))
    const step = language ? (2 * Math.PI * pitches[language]!) / SAMPLE_RATE : 0
    return Buffer.from(samples.map((_, i) => 8000 * Math.sin(step * i)).buffer)
  })
  return Buffer.concat(parts)
}

/** Returns the languages of the pitch, by the share of periods that have it. */
function languagesOf(audio: Float32Array, allowed: readonly string[]): LanguageProbability[] {
  const periods: number[] = []
  let last = -1
  for (let i = 1; i < audio.length; i++) {
    if (!(audio[i - 1]! < 0 && audio[i]! >= 0)) continue
    if (last >= 0) periods.push(i - last)
    last = i
  }
  const known = Object.keys(pitches).filter(
    (code) => allowed.length === 0 || allowed.includes(code),
  )
  const found = known.map((language) => {
    const length = SAMPLE_RATE / pitches[language]!
    const similar = periods.filter((period) => Math.abs(period - length) < 3).length
    // Short speech is hard to identify.
    const certainty = Math.min(1, periods.reduce((sum, one) => sum + one, 0) / SAMPLE_RATE)
    const share = (certainty * similar) / Math.max(1, periods.length)
    return { language, probability: share + (1 - certainty) / known.length }
  })
  return found.sort((a, b) => b.probability - a.probability)
}

/** Describes a model for tests: `whisper` also identifies languages. */
export function describeTones(model: LocalModel): RecognizerInfo {
  const { id, languages, revision, engine, memoryBytes } = model
  const identifiesLanguages = engine === 'whisper'
  return {
    id,
    revision,
    capabilities: {
      languages,
      wordTimes: true,
      maxSeconds: 15,
      vocabulary: false,
      identifiesLanguages,
      translates: identifiesLanguages,
    },
    estimate: { wer: 0.1 / memoryBytes, realTimeFactor: memoryBytes },
  }
}

/** A model for tests: its words are the language that it hears, its id and its process. */
export function loadTones(model: LocalModel): Recognizer {
  const textOf = (audio: Float32Array, language: string | undefined) => {
    const [identified] = languagesOf(audio, [])
    const isKnown = identified!.language === (language ?? model.languages[0])
    return `${isKnown ? identified!.language : 'garbled'} ${model.id} ${process.pid}`
  }
  const wordsOf = (audio: Float32Array, language: string | undefined) => {
    const texts = textOf(audio, language).split(' ')
    const step = audio.length / SAMPLE_RATE / texts.length
    return texts.map((text, i) => {
      return { text, start: i * step, end: (i + 1) * step, confidence: 0.9 }
    })
  }
  return {
    ...describeTones(model),
    thresholds: moonshineThresholds,
    async recognize(segments, { language }) {
      return segments.map((audio) => ({
        words: wordsOf(audio, language),
        language: language ?? model.languages[0]!,
        logProbability: -0.1,
        complete: true,
        warnings: [],
      }))
    },
    async recognizePartial(audio, { language }) {
      const words = wordsOf(audio, language)
      const spoken = language ?? model.languages[0]!
      return { words, agreed: words.length, language: spoken, logProbability: -0.1, tokens: [1] }
    },
    ...(model.engine === 'whisper' && {
      identifyLanguage: async (audio, { languages }) => languagesOf(audio, languages),
      translate: async (segments, { language }) => {
        return segments.map((audio) => `english of ${textOf(audio, language)}`)
      },
    }),
    measureCost: async () => ({ encode: 0.01, perToken: 0.001 }),
    async close() {},
  }
}

/** The model of every installation: English alone. */
export const bundledTones: LocalModel = {
  id: 'bundled',
  kind: 'recognition',
  engine: 'moonshine',
  languages: ['en'],
  revision: '1',
  memoryBytes: 1,
  folder: '',
}
