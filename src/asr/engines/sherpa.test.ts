import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addMetadata } from '../../../test/support/asr/models/add-onnx-metadata.ts'
import {
  audioOf,
  skipWithoutSherpa,
  writeCanary,
  writeNemoCtc,
  writeSenseVoice,
  writeTransducer,
} from '../../../test/support/asr/models/tone-models.ts'
import type { RecognizeOptions, Recognizer } from './recognizer.ts'
import { startSherpa } from './sherpa/start-sherpa.ts'
import { createSherpa } from './sherpa.ts'

const { signal } = new AbortController()
const skip = skipWithoutSherpa()
const options: RecognizeOptions = { language: undefined, languages: [], vocabulary: [], signal }

const sound = audioOf([
  [undefined, 0.5],
  ['▁HEL', 0.3],
  ['LO', 0.3],
  [undefined, 0.4],
  ['▁NEW', 0.2],
  ['▁YORK', 0.3],
  [undefined, 0.5],
])
const chinese = audioOf([
  ['我', 0.4],
  ['们', 0.4],
  [undefined, 0.8],
])

function folderOf(t: TestContext, write: (folder: string) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'sherpa-'))
  t.after(() => rmSync(folder, { recursive: true }))
  write(folder)
  return folder
}

async function open(
  t: TestContext,
  write: (folder: string) => void,
  languages = ['en', 'zh'],
): Promise<Recognizer> {
  const folder = folderOf(t, write)
  const recognizer = await createSherpa({ id: 'tones', revision: '1', languages, folder })
  t.after(() => recognizer.close())
  return recognizer
}

function textOf({ words }: { words: readonly { text: string }[] }): string {
  return words.map(({ text }) => text).join(' ')
}

/** Words with their times in tenths of a second. */
function timesOf({ words }: { words: readonly { text: string; start: number; end: number }[] }) {
  return words.map(({ text, start, end }) => [text, Math.round(start * 10), Math.round(end * 10)])
}

test('a transducer yields words at their times with probabilities', { skip }, async (t) => {
  const recognizer = await open(t, (folder) => writeTransducer(folder, { isStreaming: false }))
  const found = await recognizer.recognize([sound, chinese], options)
  assert.deepEqual(timesOf(found[0]!), [
    ['hello', 5, 11],
    ['new', 15, 17],
    ['york', 17, 20],
  ])
  assert.equal(textOf(found[1]!), '我 们')
  assert.ok(found.every(({ logProbability }) => logProbability < 0 && logProbability > -1))
  assert.ok(found[0]!.words.every(({ confidence }) => confidence > 0.5 && confidence <= 1))
  assert.deepEqual(await recognizer.recognize([sound, chinese], options), found)
  const costs = await recognizer.measureCost(2, { drafted: 0 })
  assert.ok(costs.encode > 0)
})

test('hotwords increase matches, and unknown ones change nothing', { skip }, async (t) => {
  const recognizer = await open(t, (folder) => writeTransducer(folder, { isStreaming: false }))
  const listed = { ...options, vocabulary: ['New York', 'unknown'] }
  const [plain] = await recognizer.recognize([sound], options)
  const [found] = await recognizer.recognize([sound], listed)
  const count = (text: string) => text.match(/york/g)?.length ?? 0
  assert.ok(count(textOf(found!)) > count(textOf(plain!)))
  const [other] = await recognizer.recognize([sound], { ...listed, vocabulary: ['unknown'] })
  assert.deepEqual(other, plain)
})

test('SenseVoice reports the language and leaves its tags out of the text', { skip }, async (t) => {
  const recognizer = await open(t, writeSenseVoice, ['en', 'zh', 'ko'])
  const found = await recognizer.recognize([sound, chinese], options)
  assert.deepEqual(found.map(textOf), ['hello new york', '我 们'])
  assert.deepEqual(
    found.map(({ language }) => language),
    ['en', 'zh'],
  )
  const [only] = await recognizer.recognize([chinese], { ...options, languages: ['ko'] })
  assert.equal(only!.language, 'ko')
  const identify = (audio: Float32Array) =>
    recognizer.identifyLanguage!(audio, { languages: [], signal })
  const [first, second] = await identify(Float32Array.of(...chinese, ...chinese))
  assert.equal(first!.language, 'zh')
  assert.ok(first!.probability > 0.9 && second!.probability < 0.05)
  const both = await identify(Float32Array.of(...sound, ...chinese, ...chinese))
  assert.ok(both[0]!.probability < 0.9)
})

test('without token probabilities, confidence comes from a second pass', {
  skip,
}, async (t) => {
  const recognizer = await open(t, writeNemoCtc)
  const [found] = await recognizer.recognize([sound], options)
  assert.deepEqual(timesOf(found!)[0], ['hello', 5, 11])
  assert.deepEqual(
    found!.words.map(({ confidence }) => confidence.toFixed(2)),
    ['0.86', '0.80', '0.83'],
  )
  const [none] = await recognizer.recognize([new Float32Array(100)], options)
  assert.deepEqual(none!.words, [])
})

test('Canary transcribes in the language it is given', { skip }, async (t) => {
  const recognizer = await open(t, writeCanary, ['en', 'de'])
  assert.equal(recognizer.capabilities.wordTimes, false)
  const recognizeIn = async (language: string) => {
    const [found] = await recognizer.recognize([sound], { ...options, language })
    return [found!.language, textOf(found!)]
  }
  assert.deepEqual(await recognizeIn('de'), ['de', 'Hallo Welt'])
  assert.deepEqual(await recognizeIn('en'), ['en', 'Hello world'])
})

test('a streaming model continues open utterances without processing audio twice', {
  skip,
}, async (t) => {
  const recognizer = await open(t, (folder) => writeTransducer(folder, { isStreaming: true }))
  const [whole] = await recognizer.recognize([sound], options)
  assert.equal(textOf(whole!), 'hello new york')
  let draft: number[] = []
  const texts: string[] = []
  for (const seconds of [1.2, 1.9, 2.2]) {
    const audio = sound.slice(0, seconds * 16_000)
    // What was heard is not looked at again.
    audio.fill(0, 0, draft[1] ?? 0)
    const recognized = await recognizer.recognizePartial(audio, { ...options, draft })
    assert.equal(recognized.agreed, texts.at(-1)?.split(' ').length ?? 0)
    texts.push(textOf(recognized))
    draft = recognized.tokens
  }
  assert.deepEqual(texts, ['hello', 'hello new', 'hello new york'])
  const same = await recognizer.recognizePartial(sound.slice(0, draft[1]), { ...options, draft })
  assert.equal(textOf(same), 'hello new york')
  const other = await recognizer.recognizePartial(chinese, { ...options, draft: [] })
  assert.ok(textOf(other).startsWith('我'))
  const lost = await recognizer.recognizePartial(sound, { ...options, draft: [999, 16_000] })
  assert.equal(textOf(lost), 'hello new york')
})

test('a model error fails only its own call', { skip }, async (t) => {
  const recognizer = await open(t, (folder) => writeNemoCtc(folder, { breaksAfter: 5 }))
  const long = new Float32Array(7 * 16_000)
  await assert.rejects(recognizer.recognize([long], options), { code: 'engine_failed' })
  const [found] = await recognizer.recognize([sound], options)
  assert.equal(textOf(found!), 'hello new york')
  const canceled = { ...options, signal: AbortSignal.abort() }
  await assert.rejects(recognizer.recognize([sound], canceled), { name: 'AbortError' })
})

test('a crashed sherpa-onnx process fails one call and is replaced', { skip }, async (t) => {
  if (process.platform !== 'linux') return t.skip('finds its process with ps')
  const folder = folderOf(t, writeNemoCtc)
  const sherpa = await startSherpa({ folder, provider: 'cpu' })
  t.after(() => sherpa.close())
  const samples = new Float32Array(20 * 60 * 16_000)
  const failed = sherpa.run({ kind: 'recognize', samples }, signal)
  const next = sherpa.run({ kind: 'recognize', samples: sound }, signal)
  process.kill(childOf(folder), 'SIGABRT')
  await assert.rejects(failed, { code: 'engine_failed', message: /sherpa-onnx ended with SIGABRT/ })
  assert.equal((await next).text, 'HELLO NEW YORK')
})

test('a model that cannot be loaded is reported with the reason', { skip }, async (t) => {
  const folder = folderOf(t, writeNemoCtc)
  addMetadata(join(folder, 'model.onnx'), { model_type: 'EncDecCTCModelBPE' })
  const stored = { id: 'tones', revision: '1', languages: ['en'], folder }
  await assert.rejects(createSherpa(stored), /ended with code 255: .*'vocab_size' does not exist/)
})

/** The process that runs the model in a folder. */
function childOf(folder: string): number {
  const list = ['-o', 'pid=,args=', '--ppid', String(process.pid)]
  const found = execFileSync('ps', list, { encoding: 'utf8' })
  return Number(
    found
      .split('\n')
      .find((line) => line.includes(folder))!
      .trim()
      .split(' ')[0],
  )
}

test('the child process loads only the ONNX Runtime of sherpa-onnx', { skip }, async (t) => {
  if (process.platform !== 'linux') return t.skip('reads /proc')
  const folder = folderOf(t, writeNemoCtc)
  const sherpa = await startSherpa({ folder, provider: 'cpu' })
  t.after(() => sherpa.close())
  const maps = readFileSync(`/proc/${childOf(folder)}/maps`, 'utf8')
  const runtimes = new Set(maps.match(/\/\S*libonnxruntime\S*/g))
  assert.equal(runtimes.size, 1)
  assert.match([...runtimes][0]!, /sherpa-onnx/)
})
