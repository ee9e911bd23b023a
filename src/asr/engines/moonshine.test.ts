import assert from 'node:assert/strict'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import ort from 'onnxruntime-node'
import { createRandom } from '../../../test/support/random/random.ts'
import type { Word } from '../../transcript/transcript.ts'
import { bundledModels } from '../model-files/bundled-packages.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import { loadMoonshine } from './moonshine/decoding/decoder.ts'
import { type MoonshineModel, moonshineModels } from './moonshine/dimensions.ts'
import { opensWord, tokensToText } from './moonshine/tokens.ts'
import { createMoonshine } from './moonshine.ts'
import type { DraftText, Recognition } from './recognizer.ts'

const root = join(import.meta.dirname, '../../..')
const { signal } = new AbortController()
const { InferenceSession } = ort as unknown as {
  InferenceSession: { prototype: ort.InferenceSession }
}
/** Samples that the header of the file takes. */
const HEADER = 22

const tiny = () => createMoonshine(bundledModels(join(root, 'models')).moonshineTiny, 'tiny')
const speech = readSamples(join(root, 'test/fixtures/two-voices.wav'), HEADER, 8 * 16_000)

/**
 * Calls for several tokens round differently than calls for one, which may move the border of two
 * words by a frame (decision 0106).
 */
function assertSameWords(words: readonly Word[], expected: readonly Word[]): void {
  assert.deepEqual(
    words.map(({ text }) => text),
    expected.map(({ text }) => text),
  )
  for (const [i, { start, end }] of words.entries()) {
    assert.ok(Math.abs(start - expected[i]!.start) < 0.05, `${start} ${expected[i]!.start}`)
    assert.ok(Math.abs(end - expected[i]!.end) < 0.05, `${end} ${expected[i]!.end}`)
  }
}

test('a correct or partly wrong draft saves model calls without changing the text', async (t) => {
  const model = await tiny()
  const { mock } = t.mock.method(InferenceSession.prototype, 'run')
  const options = { language: 'en', languages: [], vocabulary: [], isUrgent: true, signal }
  const recognize = async (draft?: DraftText) => {
    mock.resetCalls()
    const [{ words }] = (await model.recognize([speech], { ...options, draft })) as [Recognition]
    return { words, calls: mock.callCount() }
  }
  const { tokens } = await model.recognizePartial(speech, { ...options, draft: [] })
  const plain = await recognize()
  assert.ok(plain.calls > tokens.length)
  const place = tokens.length >> 1
  for (const draft of [
    tokens,
    tokens.toSpliced(place, 1),
    tokens.toSpliced(place, 1, 5000),
    tokens.toSpliced(place, 0, 5000),
  ]) {
    const drafted = await recognize({ text: '', model: 'moonshine-base', tokens: draft })
    assertSameWords(drafted.words, plain.words)
    assert.ok(drafted.calls < plain.calls / 2, `${drafted.calls} of ${plain.calls} calls`)
  }
  const foreign = await recognize({ text: '', model: 'whisper-base', tokens })
  assert.deepEqual(foreign, plain)
  // Another recognizer wrote the first words.
  const half = tokens.findIndex((token, i) => i > tokens.length / 2 && opensWord(token))
  const text = tokensToText(tokens.slice(0, half))
  const begun = await recognize({ text, tokens: [] })
  assertSameWords(begun.words, plain.words)
  assert.ok(begun.calls < 0.7 * plain.calls, `${begun.calls} of ${plain.calls} calls`)
  const whole = await recognize({ text, model: 'moonshine-tiny', tokens: tokens.slice(half) })
  assertSameWords(whole.words, plain.words)
  assert.ok(whole.calls < plain.calls / 2, `${whole.calls} of ${plain.calls} calls`)
  await model.close()
})

test('vocabulary entries are preferred during decoding, also in batches', async () => {
  const model = await tiny()
  const audio = speech
  const other = audio.subarray(0, 5 * 16_000)
  const recognizeWith = async (segments: Float32Array[], vocabulary: string[]) => {
    const options = { language: 'en', languages: [], vocabulary, isUrgent: true, signal }
    const recognitions = await model.recognize(segments, options)
    return recognitions.map(({ words }) => words.map(({ text }) => text).join(' '))
  }
  const plain = await recognizeWith([audio, other], [])
  assert.match(plain[0]!, /The best ematic is that/)
  assert.deepEqual(await recognizeWith([audio, other], ['Kubernetes', 'Grafana']), plain)
  for (const text of await recognizeWith([audio, other], ['Bestematic']))
    assert.match(text, /^The bestematic is that/)
  const options = { language: 'en', languages: [], vocabulary: ['Bestematic'], signal }
  const open = await model.recognizePartial(audio, { ...options, draft: [] })
  assert.match(open.words.map(({ text }) => text).join(' '), /bestematic/)
  await model.close()
})

test('the words and times of a segment do not depend on its batch', async () => {
  const model = await tiny()
  const options = { language: 'en', languages: [], vocabulary: [], signal }
  const segments = [1.7, 3.4, 5.2, 8].map((seconds) => speech.subarray(0, seconds * 16_000))
  const together = await model.recognize(segments, options)
  for (const [i, segment] of segments.entries()) {
    const [alone] = (await model.recognize([segment], options)) as [Recognition]
    assert.deepEqual(spoken(together[i]!), spoken(alone))
    assert.ok(Math.abs(together[i]!.logProbability - alone.logProbability) < 1e-4)
  }
  await model.close()
})

function spoken({ words }: Recognition) {
  return words.map(({ text, start, end }) => ({ text, start, end }))
}

test('uncertain text is searched with beams, unless it is urgent or has a vocabulary', async () => {
  const model = await tiny()
  const random = createRandom(5)
  const noisy = speech.map((sample) => sample + 0.1 * (random() - 0.5))
  const options = { language: 'en', languages: [], vocabulary: [], signal }
  const recognize = async (more: object) => {
    const [recognition] = await model.recognize([noisy], { ...options, ...more })
    return recognition!
  }
  const greedy = await recognize({ isUrgent: true })
  const searched = await recognize({})
  assert.ok(greedy.logProbability < -0.2, `${greedy.logProbability}`)
  assert.ok(searched.logProbability > greedy.logProbability, `${searched.logProbability}`)
  assert.equal(searched.complete, true)
  assert.ok(searched.words.every(({ start, end }) => 0 <= start && start < end && end <= 8))
  const listed = await recognize({ vocabulary: ['Bestematic'] })
  const urgent = await recognize({ vocabulary: ['Bestematic'], isUrgent: true })
  assert.deepEqual(listed, urgent)
  await model.close()
})

test('segments in noise are encoded by the encoder for noise, and others by the first one', async (t) => {
  const { mock: creations } = t.mock.method(ort.InferenceSession, 'create')
  const { mock: runs } = t.mock.method(InferenceSession.prototype, 'run')
  const model = await createMoonshine(bundledModels(join(root, 'models')).moonshineBase, 'base')
  const files = new Map<unknown, string>()
  for (const {
    arguments: [file],
    result,
  } of creations.calls)
    files.set(await result, basename(String(file), '.onnx'))
  const options = { language: 'en', languages: [], vocabulary: [], isUrgent: true, signal }
  /** Returns the names of the encoders that ran. */
  const encodersOf = async (recognize: () => Promise<unknown>) => {
    runs.resetCalls()
    await recognize()
    const ran = runs.calls.map((call) => files.get(call.this)!)
    return ran.filter((file) => file.startsWith('encoder'))
  }
  const clear = speech.subarray(0, 5 * 16_000)
  const random = createRandom(5)
  const noisy = clear.map((sample) => sample + 0.1 * (random() - 0.5))
  const finals = await encodersOf(() => model.recognize([clear, noisy, clear], options))
  assert.deepEqual(finals, ['encoder', 'encoder-noise', 'encoder'])
  const partial = { ...options, draft: [] }
  assert.deepEqual(await encodersOf(() => model.recognizePartial(noisy, partial)), [
    'encoder-noise',
  ])
  assert.deepEqual(await encodersOf(() => model.recognizePartial(clear, partial)), ['encoder'])
  await model.close()
})

test('the two encoders of a model differ; a model without the second one uses the first', async () => {
  const { moonshineBase, moonshineTiny } = bundledModels(join(root, 'models'))
  const statesOf = async (folder: string, size: MoonshineModel) => {
    const model = await loadMoonshine(folder, size)
    const audio = speech.subarray(0, 16_000)
    const [clear, noisy] = [
      await model.encode(audio, { isNoisy: false }),
      await model.encode(audio, { isNoisy: true }),
    ]
    await model.close()
    return { clear, noisy }
  }
  const base = await statesOf(moonshineBase, moonshineModels.base)
  assert.equal(base.noisy.length, base.clear.length)
  assert.notDeepEqual(base.noisy, base.clear)
  const tinyStates = await statesOf(moonshineTiny, moonshineModels.tiny)
  assert.deepEqual(tinyStates.noisy, tinyStates.clear)
})
