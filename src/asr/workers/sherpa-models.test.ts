/** An installed model of sherpa-onnx recognizes recordings and live speech, in real processes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { writeRandomNetwork } from '../../../test/support/asr/models/random-parakeet.ts'
import {
  audioOf,
  skipWithoutSherpa,
  writeNemoCtc,
  writeTransducer,
} from '../../../test/support/asr/models/tone-models.ts'
import { describeCheckpoint } from '../../models/install/describe-checkpoint.ts'
import { importModel } from '../../models/install/import-model.ts'
import { createLog } from '../../observability/log.ts'
import { createSpeechEngine } from '../create-speech-engine.ts'
import { describeFolder } from '../engines/sherpa/describe-folder.ts'

const { signal } = new AbortController()
const modelsFolder = join(import.meta.dirname, '../../../models')
const skip = skipWithoutSherpa()

const conversions = { whisper: () => Promise.reject(new Error('nothing to convert')) }

/** An engine with an imported model for Russian, and a streaming one; and a recording of tones. */
async function open(t: TestContext, { sharesProcess = false, isLive = false } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'sherpa-'))
  const folder = join(root, 'models')
  mkdirSync(folder)
  for (const name of readdirSync(modelsFolder)) {
    if (name !== 'store') symlinkSync(join(modelsFolder, name), join(folder, name))
  }
  const writers = {
    whole: writeNemoCtc,
    stream: (to: string) => writeTransducer(to, { isStreaming: true }),
  }
  for (const [id, write] of Object.entries(writers)) {
    const source = join(root, id)
    mkdirSync(source)
    write(source)
    const about = { id, languages: ['ru'], signal }
    const found = await describeCheckpoint(source, describeFolder(source), about)
    await importModel(folder, found, { conversions, signal, onStep() {} })
  }
  await importParakeet(join(root, 'parakeet'), folder)
  const engine = createSpeechEngine({
    folder,
    workers: 2,
    workersAtStart: 1,
    log: createLog('silent'),
    ...(isLive && { live: { partialInterval: 0.3, measuresCapacity: false } }),
    models: { memory: 4e9, idleSeconds: -1, sharesProcess },
  })
  t.after(async () => {
    await engine.close()
    rmSync(root, { recursive: true })
  })
  const sound = audioOf([
    [undefined, 0.5],
    ['▁NEW', 0.4],
    ['▁YORK', 0.4],
    [undefined, 1],
  ])
  const path = join(root, 'pcm')
  writeFileSync(
    path,
    Int16Array.from(sound, (sample) => sample * 32_767),
  )
  return { engine, path, segment: { start: 0, end: sound.length } }
}

/** A model that the worker process itself runs, several segments at once. */
async function importParakeet(source: string, folder: string): Promise<void> {
  mkdirSync(source)
  writeRandomNetwork(source, 'onnx-asr')
  const form = { engine: 'parakeet', kind: 'recognition', memoryFactor: 1 } as const
  const files = readdirSync(source)
  const about = { id: 'parakeet', languages: ['uk'], signal }
  const found = await describeCheckpoint(source, { ...form, files }, about)
  await importModel(folder, found, { conversions, signal, onStep() {} })
}

test('recordings and live speech are recognized by imported models', { skip }, async (t) => {
  // One process for both, as on a device.
  const { engine, path, segment } = await open(t, { sharesProcess: true, isLive: true })
  const request = { languages: ['ru'], codeSwitching: false, vocabulary: [] }
  const { finals, partials } = engine.selectModels({ model: 'stt-3', ...request })
  assert.deepEqual([finals.model, partials.model], ['whole', 'stream'])
  const [found] = await engine.runBatch(
    { channel: 0, path, segments: [segment], ...finals },
    { signal },
  )
  const texts = found!.words.map(({ text }) => text)
  assert.deepEqual([texts, found!.language], [['new', 'york'], 'ru'])
  assert.match(found!.model, /^whole@/)
  const utterance = { path, segment }
  const partial = await engine.live!.recognizePartial(utterance, { ...partials, signal })
  assert.equal(partial.model, 'stream')
  assert.equal(partial.words[0]?.text, 'new')
})

test('one shared process gives the same text as many processes', {
  skip,
}, async (t) => {
  const texts = []
  for (const sharesProcess of [false, true]) {
    const { engine, path, segment } = await open(t, { sharesProcess })
    const batches = ['ru', 'uk'].flatMap((language) => {
      const request = { languages: [language], codeSwitching: false, vocabulary: [] }
      const { finals } = engine.selectModels({ model: 'stt-3', ...request })
      return Array.from({ length: 4 }, (_, i) => {
        const segments = [
          { start: 0, end: segment.end - 1000 * i },
          { start: 8000, end: segment.end },
        ]
        return { channel: i, path, segments, ...finals }
      })
    })
    const found = await Promise.all(batches.map((batch) => engine.runBatch(batch, { signal })))
    texts.push(found)
  }
  assert.deepEqual(texts[1], texts[0])
  const models = texts[0]!.map(([first]) => first!.model.split('@')[0])
  assert.deepEqual([models[0], models[4]], ['whole', 'parakeet'])
  assert.ok(texts[0]!.every((segments) => segments.every(({ words }) => words.length > 0)))
})
