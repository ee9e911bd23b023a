/**
 * Measures Whisper by language: word errors (character errors in scripts without spaces),
 * identified languages, word times, words invented without speech, and speed; compared with
 * faster-whisper with the same weights if it is installed. Uses Whisper base of the tests.
 * `BENCH_PYTHON` names a Python that has faster-whisper.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { findTestWeights } from '../../scripts/tests/test-tools/test-weights.ts'
import { isWrittenWithoutSpaces } from '../../src/asr/engines/whisper/tokenizer.ts'
import { convertWhisper } from '../../src/asr/engines/whisper/weights/convert.ts'
import { createWhisper } from '../../src/asr/engines/whisper.ts'
import { bundledModels } from '../../src/asr/model-files/bundled-packages.ts'
import { recognizeSegments } from '../../src/asr/recognition/recognize-segments.ts'
import { readSamples } from '../../src/asr/segmentation/read-samples.ts'
import { fileSegments, splitSegments } from '../../src/asr/segmentation/split-segments.ts'
import { detectSpeechAndNoise, loadVad } from '../../src/asr/segmentation/vad.ts'
import type { PcmFile } from '../../src/asr/speech-engine.ts'
import { readConfig } from '../../src/config/config.ts'
import { cpuSeconds } from '../../src/workers/cpu-time.ts'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import { decodeCorpus, type Recording, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { scoreWords } from './score-words.ts'

/** Maximum recordings of each language and group, and their longest duration in seconds. */
const PER_GROUP = 20
const LONGEST = 60
/** Joined or re-encoded recordings repeat others. */
const REPEATING = new Set(['conversation', 'long', 'formats', 'padded', 'language-change'])
/** The languages of shorter recordings are not scored. */
const LONG_SECONDS = 3
/** Recordings without speech are recognized as if in each of these. */
const CLAIMED = ['en', 'de', 'fr', 'es', 'pt', 'it', 'ru', 'zh', 'ja', 'ar', 'hi', undefined]

type TimedText = { text: string; start: number }
type RecognizedRecording = {
  words: TimedText[]
  text: string
  language: string | undefined
  seconds: number
}

const weights = findTestWeights('whisper-base')
if (weights.missing) {
  report({ bench: 'languages', skipped: weights.missing })
  process.exit()
}
const folder = await temporaryFolder()
const signal = new AbortController().signal
await convertWhisper(weights.folder!, folder, { signal })
const stored = { id: 'whisper-base', revision: 'test', languages: [], folder }
const recognizer = await createWhisper(stored)
const detector = await loadVad(bundledModels(readConfig({}).models.folder).vad)
const { name, recordings } = await readCorpus({ everyLanguage: true })
const { decoded, dispose } = await decodeCorpus(sample(recordings))
const usable = [...decoded].filter(([, pcm]) => pcm.samples <= LONGEST * 16_000)
const spoken = usable.filter(([{ transcript }]) => transcript)
const silent = usable.filter(([{ transcript }]) => transcript === '')

const ours = new Map<Recording, RecognizedRecording>()
for (const [recording, pcm] of spoken) ours.set(recording, await recognizeRecording(pcm, undefined))
summarize('steno', ours)
for (const language of CLAIMED) {
  let invented = 0
  for (const [, pcm] of silent) invented += (await recognizeRecording(pcm, language)).words.length
  const claimed = language ?? 'identified'
  report({ bench: 'languages', corpus: name, recordings: silent.length, claimed, invented })
}
await recognizer.close()
const theirs = runFasterWhisper(spoken.map(([, pcm]) => pcm.path))
if (theirs)
  summarize('faster-whisper', new Map(spoken.map(([recording], i) => [recording, theirs[i]!])))
await dispose()

function sample(all: readonly Recording[]): Recording[] {
  const counts = new Map<string, number>()
  return all.filter(({ group, language, transcript }) => {
    const key = `${group} ${language}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return transcript !== null && count <= PER_GROUP && !REPEATING.has(group)
  })
}

async function recognizeRecording(
  { path, samples }: PcmFile,
  language: string | undefined,
): Promise<RecognizedRecording> {
  const audio = readSamples(path, 0, samples)
  const from = cpuSeconds()
  const segments = splitSegments(await detectSpeechAndNoise(detector, audio), audio.length, {
    ...fileSegments,
    maxSeconds: recognizer.capabilities.maxSeconds,
  })
  const pieces = segments.map(({ start, end, pauses = [] }) => ({
    audio: audio.subarray(start, end),
    pauses: pauses.map((pause) => ({ start: pause.start - start, end: pause.end - start })),
  }))
  const options = { language, languages: [], vocabulary: [], signal }
  const found = await recognizeSegments({ recognizer, detector }, pieces, options)
  const words = found.flatMap((piece, i) => {
    return piece.words.map(({ text, start }) => {
      return { text, start: start + segments[i]!.start / 16_000 }
    })
  })
  const text = words.map((word) => word.text).join(' ')
  return { words, text, language: found[0]?.language, seconds: cpuSeconds() - from }
}

function runFasterWhisper(files: readonly string[]): RecognizedRecording[] | undefined {
  const python = process.env.BENCH_PYTHON ?? 'python3'
  const script = join(import.meta.dirname, 'run_faster_whisper.py')
  const input = files.map((file) => `${file}\t\n`).join('')
  const options = { input, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  const { status, stdout, stderr } = spawnSync(python, [script, weights.folder!, 'int8'], options)
  if (status !== 0) {
    const why = stderr?.trim().split('\n').at(-1) ?? 'it cannot be started'
    report({ bench: 'languages', engine: 'faster-whisper', skipped: `${python}: ${why}` })
    return undefined
  }
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const response = JSON.parse(line) as Omit<RecognizedRecording, 'words'> & {
        words: [number, string][]
      }
      return { ...response, words: response.words.map(([start, text]) => ({ start, text })) }
    })
}

/** Returns text as words to compare: its words, or its characters in scripts without spaces. */
function comparable(text: string, language: string | null): string {
  if (!language || !isWrittenWithoutSpaces(language)) return text
  return [...text.replaceAll(/\s/g, '')].join(' ')
}

function summarize(engine: string, recognized: ReadonlyMap<Recording, RecognizedRecording>): void {
  const languages = new Set([...recognized.keys()].map(({ language }) => language))
  for (const language of languages) {
    const ofLanguage = [...recognized].filter(([recording]) => recording.language === language)
    const longRecordings = ofLanguage.filter(
      ([recording]) => decoded.get(recording)!.samples >= LONG_SECONDS * 16_000,
    )
    const right = longRecordings.filter(([, answer]) => answer.language === language)
    const counts = ofLanguage.map(([{ transcript }, { text }]) => {
      return wordErrors(comparable(transcript!, language), comparable(text, language))
    })
    const starts = ofLanguage
      .filter(([{ words }]) => words)
      .flatMap(([recording, { words }]) => scoreWords(recording, words).startErrors)
    const words = sum(counts.map(({ referenceWords }) => referenceWords))
    const audio = sum(ofLanguage.map(([recording]) => decoded.get(recording)!.samples / 16_000))
    report({
      bench: 'languages',
      corpus: name,
      engine,
      language,
      recordings: ofLanguage.length,
      words,
      errorRate: sum(counts.map(({ errors }) => errors)) / words,
      identified: `${right.length} of ${longRecordings.length}`,
      startErrorMean: starts.length > 0 ? sum(starts) / starts.length : null,
      processorSecondsPerSecond: sum(ofLanguage.map(([, { seconds }]) => seconds)) / audio,
    })
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
