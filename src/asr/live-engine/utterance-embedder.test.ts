import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { decodeMedia } from '../../audio/decode-media.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Word } from '../../transcript/transcript.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import type {
  EmbedOptions,
  Region,
  SpeakerEmbedder,
} from '../speakers/embedding/embedders/embedder.ts'
import { openXvectorEmbedder } from '../speakers/embedding/embedders/xvector-embedder.ts'
import { xvectorModelPath } from '../speakers/embedding/embedders/xvector-model.ts'
import { createSessionSpeakers } from './session-speakers.ts'
import { createUtteranceEmbedder } from './utterance-embedder.ts'

const { signal } = new AbortController()

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

/** Words of a quarter of a second, one after the other. */
function wordsBetween(start: number, end: number): Word[] {
  return Array.from({ length: Math.round((end - start) * 4) }, (_, i) => {
    return { text: 'a', start: start + i / 4, end: start + (i + 1) / 4, confidence: 1 }
  })
}

/** A stub that notes the regions it gets, and whose embedding changes from window to window. */
function stubEmbedder({ windows = 2 } = {}) {
  const recognized: { regions: readonly Region[]; samples: number }[] = []
  const embedder: SpeakerEmbedder = {
    dimension: 2,
    async embed(samples: Float32Array, regions: readonly Region[], options: EmbedOptions) {
      options.signal.throwIfAborted()
      recognized.push({ regions, samples: samples.length })
      return Array.from({ length: windows }, (_, i) => {
        return { start: 0, end: 3 + i, embedding: Float32Array.of(1 - i, i) }
      })
    },
    async close() {},
  }
  return { embedder, recognized }
}

async function makeSilence(t: TestContext, seconds: number): Promise<string> {
  const path = join(await makeFolder(t), 'channel')
  await writeFile(path, Buffer.alloc(seconds * SAMPLE_RATE * 2))
  return path
}

test('the embedding covers the words of an utterance, up to four seconds', async (t) => {
  const path = await makeSilence(t, 20)
  const { embedder, recognized } = stubEmbedder()
  const step = createUtteranceEmbedder(async () => embedder)
  const utterance = { path, segment: { start: 0, end: 20 * SAMPLE_RATE } }
  const words = [...wordsBetween(2, 5), ...wordsBetween(8, 19)]
  const { speakerEmbedding: speaker } = await step(utterance, words, signal)
  const [{ regions, samples }] = recognized as [(typeof recognized)[number]]
  assert.equal(regions[0]!.start, 0)
  assert.ok(Math.abs(regions[1]!.start - 6 * SAMPLE_RATE) < 100)
  const speech = regions.reduce((sum, { start, end }) => sum + end - start, 0)
  assert.equal(speech, 4 * SAMPLE_RATE)
  assert.equal(samples, regions[1]!.end)
  assert.equal(speaker!.seconds, 4)
  // Longer windows count more: 3 to 4.
  assert.deepEqual(
    [...speaker!.embedding].map((x) => Math.round(x * 10) / 10),
    [0.6, 0.8],
  )
})

test('an utterance without words or windows yields no speaker and no error', async (t) => {
  const path = await makeSilence(t, 1)
  const utterance = { path, segment: { start: 0, end: SAMPLE_RATE } }
  const step = createUtteranceEmbedder(async () => stubEmbedder({ windows: 0 }).embedder)
  assert.deepEqual(await step(utterance, wordsBetween(0, 1), signal), {})
  assert.deepEqual(await step(utterance, [], signal), {})
})

test('a failure to load the model is an error, and loading is retried', async (t) => {
  const path = await makeSilence(t, 1)
  const utterance = { path, segment: { start: 0, end: SAMPLE_RATE } }
  let loads = 0
  const step = createUtteranceEmbedder(async () => {
    if (++loads === 1) throw new Error('no model')
    return stubEmbedder().embedder
  })
  assert.deepEqual(await step(utterance, wordsBetween(0, 1), signal), {
    embeddingError: 'no model',
  })
  for (const _ of [1, 2])
    assert.ok((await step(utterance, wordsBetween(0, 1), signal)).speakerEmbedding)
  assert.equal(loads, 2)
  const stop = new AbortController()
  stop.abort(new Error('left'))
  await assert.rejects(step(utterance, wordsBetween(0, 1), stop.signal), /left/)
})

/** The same audio played faster, which makes it another speaker. */
function faster(samples: Float32Array, factor: number): Int16Array {
  return Int16Array.from({ length: Math.floor(samples.length / factor) }, (_, i) => {
    return 32_767 * samples[Math.floor(i * factor)]!
  })
}

test('the built-in model distinguishes two voices that take turns', async (t) => {
  const folder = await makeFolder(t)
  const fixture = new URL('../../../test/fixtures/jfk.flac', import.meta.url).pathname
  const { channels } = await decodeMedia(fixture, join(folder, 'jfk'), { signal, maxSeconds: 60 })
  const { path, samples } = channels[0]!
  const [other, FACTOR] = [join(folder, 'other'), 1.3]
  await writeFile(other, faster(readSamples(path, 0, samples), FACTOR))
  const step = createUtteranceEmbedder(() => openXvectorEmbedder({ modelPath: xvectorModelPath }))
  const voices = createSessionSpeakers({ channels: 1, counts: {} })
  const ranges: [number, number][] = [
    [0.3, 2.2],
    [5.4, 7.4],
    [8.2, 10.6],
  ]
  const reported: (number | undefined)[] = []
  for (const [start, end] of ranges) {
    for (const [file, speed] of [
      [path, 1],
      [other, FACTOR],
    ] as const) {
      const segment = {
        start: Math.round((start / speed) * SAMPLE_RATE),
        end: Math.round((end / speed) * SAMPLE_RATE),
      }
      const words = wordsBetween(start / speed, end / speed)
      const { speakerEmbedding: speaker } = await step({ path: file, segment }, words, signal)
      reported.push(voices.speakerOf(0, speaker))
    }
  }
  assert.deepEqual(reported, [0, 1, 0, 1, 0, 1])
})
