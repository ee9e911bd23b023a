/** An installed model of sherpa-onnx recognizes recordings and live speech, in real processes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../log.ts'
import { describeCheckpoint } from '../../models/checkpoint.ts'
import { importModel } from '../../models/import.ts'
import { createSpeechEngine } from '../engine.ts'
import { describeFolder } from '../sherpa/import.ts'
import { soundOf, writeNemoCtc, writeTransducer } from '../sherpa/tone-models.fixture.ts'

const { signal } = new AbortController()
const modelsFolder = join(import.meta.dirname, '../../../models')
const skip = isThere() ? false : 'sherpa-onnx-node is an optional dependency'

function isThere(): boolean {
  try {
    createRequire(import.meta.url).resolve('sherpa-onnx-node')
    return true
  } catch {
    return false
  }
}

/** An engine with an imported model for Russian, and a streaming one; and a recording of tones. */
async function open(t: TestContext) {
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
    const conversions = { whisper: () => Promise.reject(new Error('nothing to convert')) }
    await importModel(folder, found, { conversions, signal, onStep() {} })
  }
  const engine = createSpeechEngine({
    ...{ folder, workers: 1, log: createLog('silent'), live: { partialInterval: 0.3 } },
    models: { memory: 2e9, idleSeconds: -1 },
  })
  t.after(async () => {
    await engine.close()
    rmSync(root, { recursive: true })
  })
  const sound = soundOf([
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

test('recordings and live speech are recognized by imported models', { skip }, async (t) => {
  const { engine, path, segment } = await open(t)
  const request = { languages: ['ru'], codeSwitching: false, vocabulary: [] }
  const { finals, partials } = engine.route({ model: 'stt-3', ...request })
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
