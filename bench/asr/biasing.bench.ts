/**
 * `npm run bench -- biasing [--corpus DIR]`: measures the effect of a vocabulary in the decoder of
 * the bundled model, without the later repair of the text: how many misrecognized words become
 * right when they are in the vocabulary, alone and among others; how many vocabulary words appear
 * that were not spoken; words on recordings without speech; and the time.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMoonshine } from '../../src/asr/engines/moonshine.ts'
import { bundledModels } from '../../src/asr/model-files/bundled-packages.ts'
import { normalizeLevel } from '../../src/asr/segmentation/gain.ts'
import { readSamples } from '../../src/asr/segmentation/read-samples.ts'
import { SAMPLE_RATE } from '../../src/audio/pcm.ts'
import { alignWords, comparableWords } from '../../test/support/asr/word-errors.ts'
import { decodeCorpus, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'

/** The longest recordings that are recognized in one call, in seconds. */
const LONGEST = 16
/** The fewest letters of a word that may count as a name. */
const LETTERS = 5
const UNUSED = [0, 100, 1000]
const BATCH = 4

const { name, recordings } = await readCorpus()
const usable = recordings.filter(({ group }) => group !== 'formats')
const { decoded, dispose } = await decodeCorpus(usable)
const clips = [...decoded].flatMap(([recording, { path, samples }]) => {
  if (samples > LONGEST * SAMPLE_RATE) return []
  const referenceWords = comparableWords(recording.transcript ?? '')
  return [{ ...recording, referenceWords, audio: normalizeLevel(readSamples(path, 0, samples)) }]
})
const spoken = clips.filter(({ referenceWords }) => referenceWords.length > 0)
const silent = clips.filter(
  ({ transcript, referenceWords }) => transcript !== null && referenceWords.length === 0,
)
const model = await createMoonshine(
  bundledModels(join(import.meta.dirname, '../../models')).moonshineBase,
  'base',
)

const plain = await recognizeClips(spoken, [])
const missed = new Set(
  spoken.flatMap(({ referenceWords }, i) => missedWords(referenceWords, plain.texts[i]!)),
)
for (const count of UNUSED) {
  const list = [...missed, ...unusedNames(count)]
  const listed = new Set(list.map((entry) => entry.toLowerCase()))
  const biased = await recognizeClips(spoken, list)
  const [before, after] = [plain, biased].map((recognized) => score(recognized.texts, listed))
  const noise = await recognizeClips(silent, list)
  report({
    bench: 'asr/biasing',
    list: list.length,
    said: missed.size,
    right: [before!.right, after!.right],
    wrong: [before!.wrong, after!.wrong],
    false: [before!.invented, after!.invented],
    errors: [before!.errors, after!.errors],
    words: spoken.reduce((sum, { referenceWords }) => sum + referenceWords.length, 0),
    wordsWithoutSpeech: noise.texts.flat().length,
    seconds: [plain.seconds, biased.seconds],
    corpus: name,
  })
}
// Vocabularies of words that no recording contains.
for (const count of UNUSED.slice(1)) {
  const list = unusedNames(count)
  const biased = await recognizeClips(spoken, list)
  const listed = new Set(list.map((entry) => entry.toLowerCase()))
  const [before, after] = [plain, biased].map((recognized) => score(recognized.texts, listed))
  report({
    bench: 'asr/biasing',
    list: count,
    said: 0,
    false: [before!.invented, after!.invented],
    errors: [before!.errors, after!.errors],
    seconds: [plain.seconds, biased.seconds],
    corpus: name,
  })
}
await model.close()
await dispose()

/** Recognizes clips in batches; texts as comparable words. */
async function recognizeClips(
  clips: readonly { audio: Float32Array }[],
  vocabulary: readonly string[],
) {
  const started = performance.now()
  const texts: string[][] = []
  const { signal } = new AbortController()
  for (let i = 0; i < clips.length; i += BATCH) {
    const segments = clips.slice(i, i + BATCH).map(({ audio }) => audio)
    const recognized = await model.recognize(segments, {
      language: 'en',
      languages: [],
      vocabulary,
      signal,
    })
    texts.push(
      ...recognized.map(({ words }) => comparableWords(words.map(({ text }) => text).join(' '))),
    )
  }
  return { texts, seconds: (performance.now() - started) / 1000 }
}

function missedWords(referenceWords: readonly string[], recognized: readonly string[]): string[] {
  const pairs = alignWords([...referenceWords], [...recognized])
  return pairs.flatMap(([a, b]) => {
    if (!a || b?.same) return []
    const word = referenceWords[a.index]!
    return word.length >= LETTERS && !/[0-9]/.test(word) ? [word] : []
  })
}

/** Counts right, wrong and invented words of the vocabulary, and all errors. */
function score(texts: readonly (readonly string[])[], listed: ReadonlySet<string>) {
  const total = { right: 0, wrong: 0, invented: 0, errors: 0 }
  for (const [i, recognized] of texts.entries()) {
    const { referenceWords } = spoken[i]!
    for (const [a, b] of alignWords([...referenceWords], [...recognized])) {
      if (!b?.same) total.errors++
      if (a && listed.has(referenceWords[a.index]!)) total[b?.same ? 'right' : 'wrong']++
      if (b && !b.same && listed.has(recognized[b.index]!)) total.invented++
    }
  }
  return total
}

/**
 * Returns names that no recording contains: the values of the vocabulary bench, then combinations
 * of their halves.
 */
function unusedNames(count: number): string[] {
  const labeled = JSON.parse(
    readFileSync(new URL('../text/vocabulary.json', import.meta.url), 'utf8'),
  ) as { tuning: [string, string][] }
  const names = [...new Set(labeled.tuning.map(([, value]) => value))]
  const parts = names.map((value) => {
    const middle = Math.ceil(value.length / 2)
    return [value.slice(0, middle), value.slice(middle)] as const
  })
  for (let i = 0; names.length < count; i++) {
    const [first] = parts[(i * 31) % parts.length]!
    const [, second] = parts[(i * 17 + Math.floor(i / parts.length) + 1) % parts.length]!
    names.push(first + second)
  }
  return names.slice(0, count)
}
