import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlanarSamples } from './pcm.ts'
import { alignStart, silentPlanes } from './silence.ts'

async function* blocks(...lengths: number[]): AsyncGenerator<PlanarSamples> {
  let next = 1
  for (const length of lengths) {
    const plane = Float32Array.from({ length }, () => next++)
    yield [plane, plane]
  }
}

async function join(source: AsyncIterable<PlanarSamples>): Promise<number[]> {
  const all: number[] = []
  for await (const [left, right] of source) {
    assert.deepEqual(left, right)
    all.push(...left!)
  }
  return all
}

test('silence is produced in blocks of at most a second', () => {
  const lengths = [...silentPlanes(40_000.4, 3)].map((planes) => planes.map((p) => p.length))
  assert.deepEqual(lengths, [
    [16_000, 16_000, 16_000],
    [16_000, 16_000, 16_000],
    [8000, 8000, 8000],
  ])
})

test('alignStart pads the start with silence or trims it', async () => {
  const samples = (count: number) => count / 16_000
  const audio = blocks(3, 3, 3)
  const options = { lead: samples(2), delay: samples(4) }
  assert.deepEqual(await join(alignStart(audio, options)), [0, 0, 5, 6, 7, 8, 9])
  assert.deepEqual(await join(alignStart(blocks(2), { lead: 0, delay: 0 })), [1, 2])
})
