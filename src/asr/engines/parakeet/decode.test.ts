import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pieces, writeRandomNetwork } from '../../../../test/support/asr/models/random-parakeet.ts'
import { createBias, preparePieces } from '../../recognition/decoding/vocabulary-bias.ts'
import { createParakeet } from '../parakeet.ts'
import { decodeSegments } from './decode.ts'
import { createFeatureExtractor } from './features.ts'
import { loadParakeet, type ParakeetNetwork } from './network.ts'

const { signal } = new AbortController()
const options = { language: undefined, languages: [], vocabulary: [], signal }
const layouts = ['sherpa', 'onnx-asr'] as const
let folder = ''
const folderOf = (layout: string) => join(folder, layout)

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'parakeet-'))
  for (const layout of layouts) {
    mkdirSync(folderOf(layout))
    writeRandomNetwork(folderOf(layout), layout)
  }
})
after(() => rmSync(folder, { recursive: true }))

/** Noise that is loud or quiet in each 80 ms, the same for the same `kind`. */
function audioOf(kind: number, seconds: number): Float32Array {
  let state = kind + 1
  return Float32Array.from({ length: seconds * 16_000 }, (_, i) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    const isLoud = Math.sin((kind + 2) * Math.floor(i / 1280) ** 2) > 0
    return (isLoud ? 0.3 : 0.003) * (state / 0x7fffffff - 0.5)
  })
}

function loadSherpa() {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node')
  } catch {
    return undefined
  }
}

async function decode(layout: string, sounds: readonly Float32Array[]) {
  const network = await loadParakeet(folderOf(layout))
  const extract = createFeatureExtractor(network.mels)
  const encoded = []
  for (const sound of sounds) encoded.push(await network.encode(extract(sound)))
  const decoded = await decodeSegments(network, encoded, { bias: undefined, signal })
  await network.close()
  return decoded
}

describe('Parakeet with random weights', () => {
  const sounds = [audioOf(0, 4), audioOf(1, 2.5), audioOf(2, 7)]

  test('both file layouts of the model give the same text, in a batch and alone', async () => {
    const together = await decode('sherpa', sounds)
    assert.deepEqual(await decode('onnx-asr', sounds), together)
    for (const [i, sound] of sounds.entries()) {
      const [alone] = await decode('sherpa', [sound])
      assert.ok(alone!.length > 5)
      assert.deepEqual(alone, together[i])
    }
  })

  test('tokens and times match those of sherpa-onnx', async (t) => {
    const sherpa = loadSherpa()
    if (!sherpa) return t.skip('sherpa-onnx-node is an optional dependency')
    const file = (part: string) => join(folderOf('sherpa'), `${part}.int8.onnx`)
    const recognizer = new sherpa.OfflineRecognizer({
      featConfig: { sampleRate: 16_000, featureDim: 128 },
      modelConfig: {
        transducer: { encoder: file('encoder'), decoder: file('decoder'), joiner: file('joiner') },
        tokens: join(folderOf('sherpa'), 'tokens.txt'),
        numThreads: 1,
        provider: 'cpu',
        modelType: 'nemo_transducer',
      },
    })
    const ours = await decode('sherpa', sounds)
    for (const [i, samples] of sounds.entries()) {
      const stream = recognizer.createStream()
      stream.acceptWaveform({ sampleRate: 16_000, samples })
      recognizer.decode(stream)
      const { tokens, timestamps, durations } = recognizer.getResult(stream)
      const theirs = tokens.map((text: string, n: number) => {
        return `${text.trim()} ${Math.round(timestamps[n] / 0.08)} ${Math.round(durations[n] / 0.08)}`
      })
      const decoded = ours[i]!.map(({ token, frame, frames }) => {
        return `${pieces[token]!.replace('▁', '')} ${frame} ${frames}`
      })
      assert.deepEqual(decoded, theirs)
    }
  })

  test('words are in order, and a draft does not change them', async () => {
    const stored = { id: 'random', revision: '1', languages: ['en'], folder: folderOf('onnx-asr') }
    const recognizer = await createParakeet(stored)
    const [first, short] = await recognizer.recognize(
      [sounds[0]!, sounds[0]!.subarray(0, 800)],
      options,
    )
    assert.ok(first!.words.length > 3)
    for (const [i, { start, end, confidence }] of first!.words.entries()) {
      assert.ok(start >= (first!.words[i - 1]?.end ?? 0) && end >= start && end <= 4)
      assert.ok(confidence > 0 && confidence <= 1)
    }
    assert.ok(first!.logProbability < 0)
    assert.ok(short!.words.every(({ end }) => end <= 0.05))
    const open = await recognizer.recognizePartial(sounds[0]!, { ...options, draft: [] })
    assert.deepEqual([open.words.length, open.agreed], [first!.words.length, 0])
    const again = await recognizer.recognizePartial(sounds[0]!, { ...options, draft: open.tokens })
    assert.equal(again.agreed, open.words.length)
    const costs = await recognizer.measureCost(1, { drafted: 0 })
    assert.ok(costs.encode > 0 && costs.perToken > 0)
    await recognizer.close()
  })

  test('a folder without a model is rejected', async () => {
    await assert.rejects(loadParakeet(folder), /needs its tokens, an encoder/)
  })
})

const cubes = ['▁the', '▁cube', '▁Kub', 'ern', 'etes', 's', '<blk>'].map((chunk) => {
  return chunk === '<blk>' ? '' : chunk
})

/** A network whose frames hold the scores themselves; each lasts one frame, or none with `stay`. */
async function decodeScores(
  frames: (Record<string, number> & { stay?: 1 })[],
  vocabulary: string[],
) {
  const blank = cubes.length - 1
  const data = frames.flatMap(({ stay, ...scores }) => {
    const logits = cubes.map((chunk) => scores[chunk === '' ? 'blank' : chunk] ?? -20)
    return [...logits, stay ? 1 : 0, stay ? 0 : 1]
  })
  const state = [new Float32Array(1), new Float32Array(1)] as const
  const network: Pick<ParakeetNetwork, 'blank' | 'initialState' | 'step'> = {
    blank,
    initialState: state,
    step: async (inputs) => inputs.map(({ frame }) => ({ scores: frame, state })),
  }
  const size = blank + 3
  const chunk = { data: Float32Array.from(data), frames: frames.length, size }
  const bias = createBias(preparePieces(cubes), vocabulary, 1.5)
  const [tokens] = await decodeSegments(network, [chunk], { bias, signal })
  return tokens!.map(({ token, frame }) => `${cubes[token]} ${frame}`)
}

test('vocabulary entries are preferred, and undone if they are not completed', async () => {
  const name = [
    { '▁the': 10 },
    { '▁cube': 10, '▁Kub': 9 },
    { blank: 10, ern: 9.9 },
    { s: 10, ern: 8 },
    { s: 10, etes: 8 },
  ]
  const written = ['▁the 0', '▁Kub 1', 'ern 3', 'etes 4']
  assert.deepEqual(await decodeScores(name, ['Kubernetes']), written)
  const plain = ['▁the 0', '▁cube 1', 's 3', 's 4']
  assert.deepEqual(await decodeScores(name, []), plain)
  const other = [...name.slice(0, 4), { s: 10 }]
  assert.deepEqual(await decodeScores(other, ['Kubernetes']), plain)
  assert.deepEqual(await decodeScores(name.slice(0, 4), ['Kubernetes']), plain.slice(0, 3))
})

test('a frame yields at most ten tokens', async () => {
  const tokens = await decodeScores([{ '▁the': 10, stay: 1 }, { blank: 10 }], [])
  assert.deepEqual(tokens, new Array(10).fill('▁the 0'))
})
