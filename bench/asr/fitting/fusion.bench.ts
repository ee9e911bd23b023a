/**
 * Measures the fusion of two recognizers (`stt-fusion`): word errors of Moonshine base and Whisper
 * base on English recordings, alone and fused, with the processor time of each. Uses Whisper base
 * of the tests.
 */

import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'
import { createMoonshine } from '../../../src/asr/engines/moonshine.ts'
import { convertWhisper } from '../../../src/asr/engines/whisper/weights/convert.ts'
import { createWhisper } from '../../../src/asr/engines/whisper.ts'
import { bundledModels } from '../../../src/asr/model-files/bundled-packages.ts'
import { fuseRecognitions } from '../../../src/asr/recognition/fusion.ts'
import { recognizeSegments } from '../../../src/asr/recognition/recognize-segments.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import { fileSegments, splitSegments } from '../../../src/asr/segmentation/split-segments.ts'
import { detectSpeechAndNoise, loadVad } from '../../../src/asr/segmentation/vad.ts'
import { readConfig } from '../../../src/config/config.ts'
import { cpuSeconds } from '../../../src/workers/cpu-time.ts'
import { wordErrors } from '../../../test/support/asr/word-errors.ts'
import { decodeCorpus, readCorpus } from '../../support/corpus.ts'
import { report } from '../../support/report.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Maximum recordings of each group, and their longest duration in seconds. */
const PER_GROUP = 10
const LONGEST = 60
/** Joined or re-encoded recordings repeat others. */
const REPEATING = new Set(['conversation', 'long', 'formats', 'padded', 'language-change'])

const weights = findTestWeights('whisper-base')
if (weights.missing) {
  report({ bench: 'fusion', skipped: weights.missing })
  process.exit()
}
const folder = await temporaryFolder()
const { signal } = new AbortController()
await convertWhisper(weights.folder!, folder, { signal })
const files = bundledModels(readConfig({}).models.folder)
const detector = await loadVad(files.vad)
const recognizers = [
  await createMoonshine(files.moonshineBase, 'base'),
  await createWhisper({ id: 'whisper-base', revision: 'test', languages: [], folder }),
]
const names = [...recognizers.map(({ id }) => id), 'joined']
const maxSeconds = Math.min(...recognizers.map(({ capabilities }) => capabilities.maxSeconds))

type Sum = { words: number; errors: number[]; seconds: number[]; audio: number }
const groups = new Map<string, Sum>()
const { name, recordings } = await readCorpus()
const takenCounts = new Map<string, number>()
const sample = recordings.filter(({ group, transcript }) => {
  const count = (takenCounts.get(group) ?? 0) + 1
  takenCounts.set(group, count)
  return transcript && count <= PER_GROUP && !REPEATING.has(group)
})
const { decoded, dispose } = await decodeCorpus(sample)

for (const [{ group, transcript }, { path, samples }] of decoded) {
  if (samples > LONGEST * 16_000) continue
  const audio = readSamples(path, 0, samples)
  const speech = await detectSpeechAndNoise(detector, audio)
  const segments = splitSegments(speech, audio.length, { ...fileSegments, maxSeconds })
  const pieces = segments.map(({ start, end, pauses = [] }) => ({
    audio: audio.subarray(start, end),
    pauses: pauses.map((pause) => ({ start: pause.start - start, end: pause.end - start })),
  }))
  const seconds: number[] = []
  const recognitions: Awaited<ReturnType<typeof recognizeSegments>>[] = []
  for (const recognizer of recognizers) {
    const from = cpuSeconds()
    const options = { language: 'en', languages: ['en'], vocabulary: [], signal }
    recognitions.push(await recognizeSegments({ recognizer, detector }, pieces, options))
    seconds.push(cpuSeconds() - from)
  }
  const from = cpuSeconds()
  const joined = pieces.map((_piece, i) => {
    const both = recognitions.map((found, k) => ({ words: found[i]!.words, model: names[k]! }))
    return { words: fuseRecognitions(both) }
  })
  seconds.push(cpuSeconds() - from)
  const scores = [...recognitions, joined].map((found) => {
    const text = found.flatMap(({ words }) => words.map((word) => word.text)).join(' ')
    return wordErrors(transcript!, text)
  })
  const sum = groups.get(group) ?? { words: 0, errors: [0, 0, 0], seconds: [0, 0, 0], audio: 0 }
  groups.set(group, {
    words: sum.words + scores[0]!.referenceWords,
    errors: sum.errors.map((errors, k) => errors + scores[k]!.errors),
    seconds: sum.seconds.map((before, k) => before + seconds[k]!),
    audio: sum.audio + samples / 16_000,
  })
}
for (const [group, { words, errors, seconds, audio }] of groups) {
  const rates = names.map((one, k) => [one, errors[k]! / words])
  const costs = names.map((one, k) => [one, seconds[k]! / audio])
  const [errorRate, processorSecondsPerSecond] = [rates, costs].map((all) =>
    Object.fromEntries(all),
  )
  report({ bench: 'fusion', corpus: name, group, words, errorRate, processorSecondsPerSecond })
}
await Promise.all(recognizers.map((recognizer) => recognizer.close()))
await dispose()
