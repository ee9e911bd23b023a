import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { wavHeader } from '../containers/wav-header.ts'
import { beepOver, type SampleSpan } from './beep.ts'
import { redactedWave } from './redacted-wave.ts'

/** More than two blocks. */
const SAMPLES = 35_001

/** A file with a channel in which each sample encodes its position. */
async function store(t: TestContext, step: number): Promise<{ path: string; samples: Int16Array }> {
  const samples = Int16Array.from({ length: SAMPLES }, (_, i) => ((i * step) % 65_536) - 32_768)
  const path = join(await makeFolder(t), 'ch.pcm')
  await writeFile(path, samples)
  return { path, samples }
}

function withBeeps(samples: Int16Array, spans: readonly SampleSpan[]): Int16Array {
  const copy = samples.slice()
  beepOver(copy, { at: 0, spans })
  return copy
}

test('all channels are written in order, with beeps only in their own spans', async (t) => {
  const [one, two] = [await store(t, 7), await store(t, 13)]
  const spans = [
    [
      { start: 100, end: 900 },
      { start: 15_000, end: 17_000 },
    ],
    [{ start: 32_000, end: SAMPLES }],
  ] as const
  const channels = [one, two, one].map(({ path }, i) => ({ path, spans: spans[i % 2]! }))
  const pieces = await Array.fromAsync(redactedWave(channels, { samples: SAMPLES }))
  const wave = Buffer.concat(pieces)
  const format = { encoding: 's16', sampleRate: 16_000, channels: 3 } as const
  const header = wavHeader(format, SAMPLES * 6)
  assert.deepEqual(new Uint8Array(wave.subarray(0, 44)), new Uint8Array(header))
  const expected = [
    withBeeps(one.samples, spans[0]),
    withBeeps(two.samples, spans[1]),
    withBeeps(one.samples, spans[0]),
  ]
  const audio = new Int16Array(new Uint8Array(wave.subarray(44)).buffer)
  assert.equal(audio.length, SAMPLES * 3)
  for (const [i, samples] of expected.entries()) {
    assert.deepEqual(
      audio.filter((_, n) => n % 3 === i),
      samples,
    )
  }
})

test('a long recording is written in blocks of a second', async (t) => {
  const { path } = await store(t, 1)
  const pieces = await Array.fromAsync(redactedWave([{ path, spans: [] }], { samples: SAMPLES }))
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [44, 32_000, 32_000, 2 * SAMPLES - 64_000],
  )
})

test('a truncated file fails', async (t) => {
  const { path } = await store(t, 1)
  const wave = redactedWave([{ path, spans: [] }], { samples: SAMPLES + 1 })
  await assert.rejects(Array.fromAsync(wave), { code: 'storage_unreadable' })
})
