/**
 * `npm run bench -- add-ons [--corpus DIR]`: measures all add-ons on an hour of words, PII
 * redaction first: the seconds of each step, and their sum compared with the recognition of an
 * hour, measured on the recordings of the corpus with one process. The words are the reference
 * texts of the corpus, repeated.
 */
import { createSpeechEngine } from '../../src/asr/create-speech-engine.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { localAddOns } from '../../src/text/add-ons/add-ons.ts'
import { buildResult } from '../../src/text/result/build-result.ts'
import { transforms } from '../../src/text/transforms/transforms.ts'
import type { Transcript } from '../../src/transcript/transcript.ts'
import { transcribe } from '../asr/transcribe.ts'
import { decodeCorpus, type Recording, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'

const HOUR = 3600
/** The words of an hour of speech with few pauses. */
const WORDS_PER_HOUR = 9_000
/** Words per utterance; utterances are a second apart, and every third is on the other channel. */
const WORDS_PER_UTTERANCE = 25
/** Entries of the vocabulary. */
const ENTRIES = 500
/** Seconds of audio on which recognition is measured. */
const SOUND_SECONDS = 60

const { name: corpus, recordings } = await readCorpus()
const words = recordings.flatMap(({ transcript }) => transcript?.split(/\s+/) ?? []).filter(Boolean)
const params = paramsOfAll()
const recognition = (await realTimeFactor()) * HOUR

for (const run of ['first', 'next']) {
  const { seconds, total } = buildTimed(hourOf(words))
  report({
    bench: 'text/add-ons',
    run,
    corpus,
    words: WORDS_PER_HOUR,
    ...seconds,
    total,
    recognition,
    ratio: total / recognition,
  })
}

/** All switches on, and the configurations that need one. */
function paramsOfAll(): Record<string, unknown> {
  const names = [...transforms, ...localAddOns].map(({ name }) => name)
  const long = [...new Set(words.filter((word) => word.length > 3))]
  const vocabulary = Array.from({ length: ENTRIES }, (_, i) => {
    return long[(i * 31) % long.length]! + long[(i * 17 + 5) % long.length]!.slice(0, 4)
  })
  return {
    ...Object.fromEntries(names.map((name) => [name, true])),
    custom_vocabulary_config: { vocabulary },
    custom_spelling_config: { spelling_dictionary: { ACME: ['acme', 'ack me'] } },
    subtitles_config: { formats: ['srt', 'vtt'] },
  }
}

function hourOf(words: readonly string[]): Transcript {
  const utterances = Array.from({ length: WORDS_PER_HOUR / WORDS_PER_UTTERANCE }, (_, i) => {
    const at = i * WORDS_PER_UTTERANCE
    const phrase = Array.from({ length: WORDS_PER_UTTERANCE }, (_, k) => {
      const start = (HOUR * at) / WORDS_PER_HOUR + k * 0.36
      return { text: words[(at + k) % words.length]!, start, end: start + 0.3, confidence: 0.9 }
    })
    return { channel: i % 3 === 2 ? 1 : 0, language: 'en', words: phrase }
  })
  return { utterances }
}

/** Builds a result, and returns the seconds of each step and of the whole build. */
function buildTimed(transcript: Transcript) {
  const begun: [step: string, at: number][] = []
  const note = (step: string) => void begun.push([step, performance.now()])
  note('start')
  const result = { audioDuration: HOUR, distinctChannels: 2, transcriptionTime: 0, params }
  const made = buildResult(transcript, result, { onStep: note })
  JSON.stringify(made.result)
  note('end')
  const seconds = Object.fromEntries(
    begun.slice(1, -1).map(([step, at], i) => [step, (begun[i + 2]![1] - at) / 1000]),
  )
  return { seconds, total: (begun.at(-1)![1] - begun[0]![1]) / 1000 }
}

/** Returns the seconds of recognition per second of audio, voice detection included. */
async function realTimeFactor(): Promise<number> {
  const { models } = readConfig({})
  const { decoded, dispose } = await decodeCorpus(someSpeech(recordings))
  const engine = createSpeechEngine({ folder: models.folder, workers: 1, log: createLog('warn') })
  try {
    await engine.checkReady({ signal: new AbortController().signal })
    let [audio, busy] = [0, 0]
    for (const pcm of decoded.values()) {
      const started = performance.now()
      await transcribe(engine, pcm)
      busy += (performance.now() - started) / 1000
      audio += pcm.samples / 16_000
      if (audio > SOUND_SECONDS) break
    }
    return busy / audio
  } finally {
    await engine.close()
    await dispose()
  }
}

/** Returns recordings with words, evenly spread over the corpus. */
function someSpeech(recordings: readonly Recording[]): Recording[] {
  const spoken = recordings.filter(({ transcript }) => transcript)
  const step = Math.max(1, Math.floor(spoken.length / 12))
  return spoken.filter((_, i) => i % step === 0)
}
