/** The real bundled model, in its worker processes, on real and generated audio. */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import { decodeMedia } from '../audio/decode-media.ts'
import { SAMPLE_RATE } from '../audio/pcm.ts'
import { readConfig } from '../config/config.ts'
import { createLog } from '../observability/log.ts'
import { createMetrics } from '../observability/metrics.ts'
import type { Word } from '../transcript/transcript.ts'
import { createSpeechEngine } from './create-speech-engine.ts'
import type { Segment } from './engines/recognizer.ts'
import type { Batch, PcmFile, SpeechEngine } from './speech-engine.ts'
import { WorkerPool } from './workers/pool.ts'

const signal = new AbortController().signal
const settings = { model: 'moonshine-base', language: 'en', languages: [], vocabulary: [] }
const speech =
  'And so my fellow Americans ask not what your country can do for you ask what you can do for your country'

let folder: string
let engine: SpeechEngine
let jfk: PcmFile

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steno-engine-'))
  engine = createSpeechEngine({
    folder: readConfig({}).models.folder,
    workers: 2,
    log: createLog('error'),
    detectSeconds: 60,
  })
  const fixture = new URL('../../test/fixtures/jfk.flac', import.meta.url).pathname
  const { channels } = await decodeMedia(fixture, join(folder, 'jfk'), { signal, maxSeconds: 60 })
  jfk = channels[0]!
})

after(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

function plan(pcm: PcmFile): Promise<Batch[]> {
  return engine.planRecognition([{ ...pcm, channel: 0 }], settings, { signal })
}

async function findSpeech(pcm: PcmFile): Promise<Segment[]> {
  const segments = (await plan(pcm)).flatMap((batch) => batch.segments)
  return segments.sort((a, b) => a.start - b.start)
}

async function recognizeSegment(pcm: PcmFile): Promise<Word[]> {
  const batches = await plan(pcm)
  const recognized = await Promise.all(batches.map((batch) => engine.runBatch(batch, { signal })))
  const segments = recognized.flat().sort((a, b) => a.segment.start - b.segment.start)
  return segments.flatMap((segment) => segment.words)
}

async function generate(
  name: string,
  seconds: number,
  sample: (i: number) => number,
): Promise<PcmFile> {
  const samples = Int16Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => {
    return Math.max(-1, Math.min(1, sample(i))) * 32_767
  })
  const path = join(folder, name)
  await writeFile(path, new Uint8Array(samples.buffer))
  return { path, samples: samples.length }
}

/** Repeatable noise between -1 and 1 (Lehmer generator). */
function noise(): () => number {
  let seed = 42
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return (seed / 2_147_483_647) * 2 - 1
  }
}

test('real speech is transcribed with confidences and ascending times', async () => {
  const words = await recognizeSegment(jfk)
  assert.equal(wordErrors(speech, words.map((word) => word.text).join(' ')).errors, 0)
  for (const [i, { start, end, confidence }] of words.entries()) {
    assert.ok(start >= (words[i - 1]?.end ?? 0) && end > start && end <= 11)
    assert.ok(confidence > 0.3 && confidence < 1)
  }
  const request = words.find((word) => /^ask/i.test(word.text))
  assert.ok(Math.abs((request?.start ?? 0) - 3.4) < 0.3, `ask starts at ${request?.start}`)
})

test('recognition is deterministic: the same recording gives the same result', async () => {
  assert.equal(
    JSON.stringify(await recognizeSegment(jfk)),
    JSON.stringify(await recognizeSegment(jfk)),
  )
})

test('silence, noise, tones and clicks yield no words', async () => {
  const random = noise()
  const sounds: Record<string, (i: number) => number> = {
    silence: () => 0,
    faint: () => random() * 0.002,
    white: () => random() * 0.3,
    tone: (i) => 0.4 * Math.sin((2 * Math.PI * 440 * i) / SAMPLE_RATE),
    chord: (i) =>
      [262, 330, 392].reduce(
        (sum, hz) => sum + 0.2 * Math.sin((2 * Math.PI * hz * i) / SAMPLE_RATE),
        0,
      ),
    clicks: (i) => (i % 4000 < 20 ? 0.9 : 0),
    dialling: (i) => (i % 8000 < 4000 ? 0.3 * (Math.sin(0.27 * i) + Math.sin(0.47 * i)) : 0),
  }
  for (const [name, sample] of Object.entries(sounds)) {
    const words = await recognizeSegment(await generate(name, 6, sample))
    assert.deepEqual(words, [], name)
  }
})

test('a recording too short for a word yields no words', async () => {
  assert.deepEqual(await recognizeSegment(await generate('short', 0.05, () => 0.1)), [])
  assert.deepEqual(await recognizeSegment(await generate('empty', 0, () => 0)), [])
})

test('the text of a segment does not depend on the others in its batch', async () => {
  const [segment] = await findSpeech(jfk)
  const half = { start: segment!.start, end: segment!.start + 3 * SAMPLE_RATE }
  const recognize = (segments: Segment[]) => {
    return engine.runBatch({ channel: 0, path: jfk.path, segments, ...settings }, { signal })
  }
  const [alone] = await recognize([half])
  const [together] = await recognize([half, segment!])
  assert.deepEqual(
    together!.words.map((word) => word.text),
    alone!.words.map((word) => word.text),
  )
})

test('speech 40 dB below the usual level is recognized', async () => {
  const stored = await readFile(jfk.path)
  const quiet = await generate('quiet', 11, (i) => stored.readInt16LE(i * 2) / 32_768 / 100)
  const recognized = (await recognizeSegment(quiet)).map((word) => word.text).join(' ')
  assert.ok(wordErrors(speech, recognized).errors <= 2, recognized)
})

test('speech across the border of two detection tasks is segmented as elsewhere', async () => {
  const speech = await readFile(jfk.path)
  const findAt = async (second: number) => {
    const path = join(folder, `at-${second}`)
    await writeFile(path, Buffer.concat([Buffer.alloc(second * SAMPLE_RATE * 2), speech]))
    const samples = second * SAMPLE_RATE + jfk.samples
    const segments = await findSpeech({ path, samples })
    return segments.map(({ start, end }) => [start, end].map((at) => at - second * SAMPLE_RATE))
  }
  const [across, elsewhere] = await Promise.all([findAt(52), findAt(10)])
  assert.equal(across.length, elsewhere.length)
  for (const [i, edges] of across.flat().entries()) {
    assert.ok(Math.abs(edges - elsewhere.flat()[i]!) <= 1024, `${across} against ${elsewhere}`)
  }
})

test('a missing recording fails with storage_unreadable, and the worker continues', async () => {
  const gone = { path: join(folder, 'gone'), samples: 16_000 }
  await assert.rejects(plan(gone), { code: 'storage_unreadable' })
  await engine.checkReady({ signal })
})

test('crashed processes are counted by their role', async (t) => {
  const metrics = createMetrics()
  const broken = createSpeechEngine({
    folder: join(folder, 'no-models'),
    workers: 1,
    log: createLog('silent'),
    metrics,
    live: { partialInterval: 0.3, measuresCapacity: false },
  })
  t.after(() => broken.close())
  async function counted() {
    const { values } = await metrics.workerRestarts.get()
    return values.filter(({ value }) => value > 0).map(({ labels }) => labels.role)
  }
  while ((await counted()).length < 4) await delay(5)
  assert.deepEqual((await counted()).sort(), ['batch', 'live', 'partials', 'vad'])
})

test('short recordings that arrive together are recognized in one task', async (t) => {
  const [batch] = await plan(jfk)
  const [segment] = batch!.segments
  const short = (seconds: number): Batch => {
    const end = segment!.start + seconds * SAMPLE_RATE
    return { ...batch!, segments: [{ ...segment!, end, pauses: [] }] }
  }
  const batches = [2, 3, 4].map(short)
  const tasks = t.mock.method(WorkerPool.prototype, 'run')
  const together = await Promise.all(batches.map((one) => engine.runBatch(one, { signal })))
  const kinds = tasks.mock.calls.map(({ arguments: [task] }) => task.kind)
  assert.deepEqual(kinds, ['recognize-all'])
  for (const [i, one] of batches.entries()) {
    const [alone] = await engine.runBatch(one, { signal })
    assert.ok(alone!.words.length > 0)
    const texts = (words: readonly Word[]) => words.map(({ text }) => text)
    assert.deepEqual(texts(together[i]![0]!.words), texts(alone!.words))
  }
})
