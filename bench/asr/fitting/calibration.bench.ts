/**
 * Calibrates word confidence, for a new model or corpus. Uses the original recordings with a
 * reference; fits a logistic regression on one half of the recordings and tests it on the other;
 * prints the reliability of the raw probability and of the calibrated one, and the weights fitted
 * on all recordings, for src/asr/engines/moonshine/confidence.ts.
 */

import { loadMoonshine } from '../../../src/asr/engines/moonshine/decoding/decoder.ts'
import { moonshineModels } from '../../../src/asr/engines/moonshine/dimensions.ts'
import { groupTokensIntoWords } from '../../../src/asr/engines/moonshine/words.ts'
import { bundledModels } from '../../../src/asr/model-files/bundled-packages.ts'
import { alignByAttention } from '../../../src/asr/recognition/word-times/attention-alignment.ts'
import { isMostlyNoisy } from '../../../src/asr/segmentation/noise.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import { fileSegments, splitSegments } from '../../../src/asr/segmentation/split-segments.ts'
import { detectSpeechAndNoise, loadVad } from '../../../src/asr/segmentation/vad.ts'
import { readConfig } from '../../../src/config/config.ts'
import { mean } from '../../../src/numbers.ts'
import { decodeCorpus, readCorpus } from '../../support/corpus.ts'
import { report } from '../../support/report.ts'
import { reliability } from '../reliability.ts'
import { scoreWords } from '../score-words.ts'

/** Joined or re-encoded recordings repeat others, and would count twice. */
const REPEATING = new Set(['conversation', 'long', 'formats', 'padded'])

type Sample = { text: string; start: number; raw: number; features: number[] }
type Outcome = Sample & { right: boolean }
type Weights = { weights: number[]; bias: number }

const { models } = readConfig({})
const files = bundledModels(models.folder)
const detector = await loadVad(files.vad)
const model = await loadMoonshine(files.moonshineBase, moonshineModels.base)
const { name, recordings } = await readCorpus()
const usable = recordings.filter((r) => r.transcript && !REPEATING.has(r.group))
const { decoded, dispose } = await decodeCorpus(usable)

const halves: [Outcome[], Outcome[]] = [[], []]
let index = 0
for (const [recording, pcm] of decoded) {
  const samples = await recognize(readSamples(pcm.path, 0, pcm.samples))
  const { right } = scoreWords(recording, samples)
  halves[index++ % 2]!.push(
    ...samples.map((sample) => ({ ...sample, right: right.get(sample) === true })),
  )
}
await dispose()

const [fitted, tested] = halves
const half = fit(fitted)
const calibrated = tested.map((sample) => ({
  confidence: predict(half, sample.features),
  right: sample.right,
}))
const raw = tested.map((sample) => ({ confidence: sample.raw, right: sample.right }))
report({
  bench: 'calibration',
  corpus: name,
  confidence: 'raw (mean token probability)',
  ...reliability(raw),
})
report({
  bench: 'calibration',
  corpus: name,
  confidence: 'calibrated on the other half',
  ...reliability(calibrated),
})
report({ bench: 'calibration', corpus: name, fittedOn: 'all', ...fit([...fitted, ...tested]) })

async function recognize(audio: Float32Array): Promise<Sample[]> {
  const signal = new AbortController().signal
  const segments = splitSegments(await detectSpeechAndNoise(detector, audio), audio.length, {
    ...fileSegments,
    maxSeconds: 15,
  })
  const samples: Sample[] = []
  for (const { start, end } of segments) {
    const piece = new Float32Array(Math.max(end - start, 8000))
    piece.set(audio.subarray(start, end))
    const bounds = { maxTokens: Math.ceil((piece.length / 16_000) * 6.5) + 3, minTokens: 0 }
    const states = await model.encode(piece, { isNoisy: isMostlyNoisy(piece) })
    const [found] = await model.decode([{ states, bounds, draft: [] }], signal)
    if (!found || found.tokens.length === 0) continue
    const starts = alignByAttention(found.attention, {
      heads: moonshineModels.base.alignmentHeads,
      frames: found.frames,
    })
    const segment = mean(found.logProbs)
    for (const word of groupTokensIntoWords(found.tokens, [
      ...starts.map((frame) => frame * 0.024),
      piece.length / 16_000,
    ])) {
      const logProbs = found.logProbs.slice(word.tokens.first, word.tokens.last + 1)
      const product = Math.exp(logProbs.reduce((sum, p) => sum + p, 0))
      const clamped = Math.min(Math.max(product, 1e-4), 1 - 1e-4)
      const features = [Math.log(clamped / (1 - clamped)), segment]
      samples.push({
        text: word.text,
        start: start / 16_000 + word.start,
        raw: Math.exp(mean(logProbs)),
        features,
      })
    }
  }
  return samples
}

/** Logistic regression by gradient descent on standardized features. */
function fit(outcomes: readonly Outcome[]): Weights {
  const columns = [0, 1].map((k) => outcomes.map((outcome) => outcome.features[k]!))
  const means = columns.map(mean)
  const scales = columns.map((column, k) =>
    Math.sqrt(mean(column.map((x) => (x - means[k]!) ** 2))),
  )
  const rows = outcomes.map(({ features, right }) => {
    return { features: features.map((x, k) => (x - means[k]!) / scales[k]!), right }
  })
  let found: Weights = { weights: [0, 0], bias: 0 }
  for (let round = 0; round < 1000; round++) {
    const misses = rows.map((row) => predict(found, row.features) - Number(row.right))
    found = {
      weights: found.weights.map(
        (w, k) => w - 4 * mean(rows.map((row, i) => misses[i]! * row.features[k]!)),
      ),
      bias: found.bias - 4 * mean(misses),
    }
  }
  const weights = found.weights.map((w, k) => w / scales[k]!)
  return { weights, bias: found.bias - weights.reduce((sum, w, k) => sum + w * means[k]!, 0) }
}

function predict({ weights, bias }: Weights, features: readonly number[]): number {
  return 1 / (1 + Math.exp(-(bias + weights.reduce((sum, w, k) => sum + w * features[k]!, 0))))
}
