/** What a task says about recognition reaches the recognizer in its process, and comes back. */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { echoes } from '../../../test/support/asr/two-recognizers.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { createLog } from '../../observability/log.ts'
import { createSpeechEngine } from '../create-speech-engine.ts'
import type { RecognitionRequest } from '../model-selection/recognition-request.ts'
import type { Batch } from '../speech-engine.ts'

const { signal } = new AbortController()
const second = { start: 0, end: SAMPLE_RATE }

/** An engine with two recognizers, and a second of silence, which they take for speech. */
async function open(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  const engine = createSpeechEngine({
    folder,
    workers: 1,
    log: createLog('silent'),
    live: { partialInterval: 0.3, measuresCapacity: false },
    recognizers: echoes,
    entry: new URL('../../../test/support/asr/workers/two-recognizers-worker.ts', import.meta.url),
  })
  t.after(async () => {
    await engine.close()
    await rm(folder, { recursive: true })
  })
  const path = join(folder, 'pcm')
  await writeFile(path, Buffer.alloc(2 * SAMPLE_RATE))
  return { engine, pcm: { path, samples: SAMPLE_RATE } }
}

function request(language: string): RecognitionRequest {
  return { model: 'stt-1', languages: [language], codeSwitching: false, vocabulary: ['Steno'] }
}

const expected = [
  { language: 'en', final: 'english', partial: 'small' },
  { language: 'fr', final: 'others', partial: 'small others' },
]

test('a recording is recognized by the model for its language', async (t) => {
  const { engine, pcm } = await open(t)
  assert.deepEqual(engine.languages, ['en', 'fr', 'de'])
  for (const { language, final } of expected) {
    const { finals } = engine.selectModels(request(language))
    const batches = await engine.planRecognition([{ ...pcm, channel: 3 }], finals, { signal })
    assert.deepEqual(batches, [{ channel: 3, path: pcm.path, segments: [second], ...finals }])
    const batch = JSON.parse(JSON.stringify(batches[0])) as Batch
    const [recognized] = await engine.runBatch(batch, { signal })
    const { words, model, warnings } = recognized!
    assert.equal(words[0]!.text, `${final} ${language} Steno`)
    assert.deepEqual([model, recognized!.language], [final, language])
    assert.deepEqual(warnings, [`${final} ignored the vocabulary`])
  }
})

test('finals use the model for their language, and partials the smaller one', async (t) => {
  const { engine, pcm } = await open(t)
  const live = engine.live!
  const utterance = { path: pcm.path, segment: second }
  for (const { language, ...models } of expected) {
    const { finals, partials } = engine.selectModels(request(language))
    const final = await live.recognizeFinal(utterance, { signal, ...finals })
    assert.equal(final.words[0]!.text, `${models.final} ${language} Steno`)
    assert.deepEqual([final.model, final.language], [models.final, language])
    assert.deepEqual(final.warnings, [`${models.final} ignored the vocabulary`])
    const partial = await live.recognizePartial(utterance, { signal, ...partials })
    assert.equal(partial.words[0]!.text, `${models.partial} ${language} Steno`)
    assert.deepEqual([partial.model, partial.language], [models.partial, language])
  }
})

test('a task for a model that its process lacks fails', async (t) => {
  const { engine, pcm } = await open(t)
  const settings = { model: 'absent', language: 'en', languages: [], vocabulary: [] }
  const batch = { channel: 0, path: pcm.path, segments: [second], ...settings }
  await assert.rejects(engine.runBatch(batch, { signal }), {
    code: 'engine_unavailable',
    message: /no model absent/,
  })
})

test('segments are no longer than the recognizer accepts', async (t) => {
  const { engine, pcm } = await open(t)
  await writeFile(pcm.path, Buffer.alloc(2 * 20 * SAMPLE_RATE))
  const channels = [{ ...pcm, channel: 0, samples: 20 * SAMPLE_RATE }]
  const kept: number[] = []
  for (const [language, maxSeconds] of [
    ['en', 30],
    ['fr', 5],
  ] as const) {
    const { finals } = engine.selectModels(request(language))
    const batches = await engine.planRecognition(channels, finals, {
      signal,
      checkpointSpeech(part, find) {
        kept.push(part.maxSeconds)
        return find()
      },
    })
    const segments = batches.flatMap((batch) => batch.segments)
    const longest = Math.max(...segments.map(({ start, end }) => end - start))
    assert.ok(longest <= maxSeconds * SAMPLE_RATE, `${longest} samples`)
    assert.equal(segments.length > 1, language === 'fr')
  }
  assert.deepEqual(kept, [30, 5])
})
