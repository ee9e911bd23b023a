import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standInNetwork, tokens } from '../../../../test/support/asr/models/stand-in-whisper.ts'
import { createFeatureExtractor } from './features.ts'
import { createTokenizer } from './tokenizer.ts'
import { transcribeSegments, type WhisperOptions } from './transcribe.ts'

/** The piece of each text token of the stand-in. */
const pieces = ['!', 'Ġone', 'Ġtwo', 'Ġthree', 'Ġfour', 'Ġfive', 'Ġsix', 'Ð´', 'Ġa', 'Ġb', 'Ġ', '']
const { signal } = new AbortController()
const wanted: WhisperOptions = {
  language: undefined,
  languages: [],
  vocabulary: [],
  forceNonEmpty: false,
  task: 'transcribe',
  signal,
}

function modelOf(...args: Parameters<typeof standInNetwork>) {
  const { network, fed } = standInNetwork(...args)
  const tokenizer = createTokenizer(pieces, network.config)
  return { model: { network, tokenizer, extract: createFeatureExtractor(80) }, fed }
}

/** What stands before the texts that were written. */
function prefixesOf(fed: readonly number[][]): number[][] {
  return fed.filter((row) => row.includes(tokens.noTimestamps))
}

test('the likeliest language is chosen, among the allowed ones if given', async () => {
  const firstLogits = { 12: 1, 13: 3 }
  const languages = async (options: Partial<WhisperOptions>) => {
    const { model } = modelOf([[1, 2]], { firstLogits })
    const found = await transcribeSegments(model, [new Float32Array(16_000)], {
      ...wanted,
      ...options,
    })
    return found[0]!.language
  }
  assert.equal(await languages({}), 'de')
  assert.equal(await languages({ languages: ['en', 'fr'] }), 'en')
  assert.equal(await languages({ language: 'en' }), 'en')
})

test('if no language is likely, detection is repeated with audio padded to 30 s', async () => {
  const framesOf = async (firstLogits: Record<number, number>) => {
    const { model } = modelOf([[1, 2]], { firstLogits })
    const { encode, config } = model.network
    const languages = { ...config.languages, fr: 21 }
    const frames: number[] = []
    const network: typeof model.network = {
      ...model.network,
      config: { ...config, languages },
      encode: async (features) => {
        frames.push(...features.map((piece) => piece.frames))
        return await encode(features)
      },
    }
    await transcribeSegments({ ...model, network }, [new Float32Array(16_000)], wanted)
    return frames
  }
  assert.deepEqual(await framesOf({ 13: 3 }), [400])
  assert.deepEqual(await framesOf({}), [400, 3000])
})

test('an unlikely text is discarded where the model detects no speech', async () => {
  const unsure = { certainty: 1, firstLogits: { [tokens.noSpeech]: 9 } }
  const { model, fed } = modelOf([[1, 2]], unsure)
  const [found] = await transcribeSegments(model, [new Float32Array(16_000)], wanted)
  assert.deepEqual(found?.decoding.tokens, [])
  assert.equal(prefixesOf(fed).length, 1, 'it is not written again')
  const forced = { ...wanted, forceNonEmpty: true }
  const [kept] = await transcribeSegments(
    modelOf([[1, 2]], unsure).model,
    [new Float32Array(16_000)],
    forced,
  )
  assert.deepEqual(kept?.decoding.tokens, [1, 2])
  const sure = modelOf([[1, 2]], { firstLogits: unsure.firstLogits })
  const [spoken] = await transcribeSegments(sure.model, [new Float32Array(16_000)], wanted)
  assert.deepEqual(spoken?.decoding.tokens, [1, 2])
})

test('an unlikely text is decoded again, with a deterministic result', async () => {
  const write = async () => {
    const { model, fed } = modelOf([[1, 2]], { certainty: 1 })
    const [found] = await transcribeSegments(model, [new Float32Array(16_000)], wanted)
    return { tokens: found!.decoding.tokens, times: prefixesOf(fed).length }
  }
  const first = await write()
  assert.ok(first.times > 1)
  assert.deepEqual(await write(), first)
})

test('the vocabulary is given as a prompt, unless the text becomes unusable with it', async () => {
  const second = new Float32Array(16_000)
  const vocabulary = ['one', 'two']
  const firstLogits = { 13: 5 }
  const good = modelOf([[3, 4]], { firstLogits })
  await transcribeSegments(good.model, [second], { ...wanted, vocabulary })
  assert.deepEqual(
    prefixesOf(good.fed).map(([first]) => first),
    [tokens.startOfPrevious],
  )
  const cyrillic = modelOf([[7]], { firstLogits })
  await transcribeSegments(cyrillic.model, [second], { ...wanted, vocabulary })
  const few = modelOf([[3]], { firstLogits })
  await transcribeSegments(few.model, [new Float32Array(5 * 16_000)], { ...wanted, vocabulary })
  for (const { fed } of [cyrillic, few]) {
    assert.deepEqual(
      prefixesOf(fed).map(([first]) => first),
      [tokens.startOfPrevious, tokens.start],
    )
  }
})
