import assert from 'node:assert/strict'
import test from 'node:test'
import { wavHeader } from '../../audio/containers/wav-header.ts'
import type { ChunkRecord } from '../journal/log-records.ts'
import {
  type AcceptedChunk,
  ChunkPositions,
  type EarlierChunks,
  readChunks,
} from './chunk-positions.ts'

const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const

function open(earlier?: EarlierChunks): ChunkPositions {
  return new ChunkPositions({ format, keepSeconds: 30, earlier })
}

function bytes(length: number, first = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (first + i * 7) % 251)
}

function add(chunkPositions: ChunkPositions, chunk: Uint8Array, at = 1000): AcceptedChunk {
  const added = chunkPositions.add(chunk, at)
  assert.ok(!('problem' in added))
  return added
}

test('byte and time ranges are contiguous and half-open', () => {
  const chunkPositions = open()
  const ranges = [3200, 0, 1601].map((length) => add(chunkPositions, bytes(length)))
  assert.deepEqual(
    ranges.map(({ byteRange }) => byteRange),
    [
      [0, 3200],
      [3200, 3200],
      [3200, 4801],
    ],
  )
  assert.deepEqual(ranges[0]!.timeRange, [0, 0.1])
  assert.deepEqual(ranges[1]!.timeRange, [0.1, 0.1])
  assert.equal(ranges[1]!.stored, undefined)
})

test('a WAV header counts toward the byte range but not the time range', () => {
  const chunkPositions = open()
  const { byteRange, timeRange, stored } = add(
    chunkPositions,
    Buffer.concat([wavHeader(format, 0), bytes(3200)]),
  )
  assert.deepEqual(byteRange, [0, 3244])
  assert.deepEqual(timeRange, [0, 0.1])
  assert.deepEqual(Buffer.from(stored!.audio), Buffer.from(bytes(3200)))
})

test('a refused chunk does not count toward the ranges', () => {
  const chunkPositions = open()
  const wrong = wavHeader({ ...format, sampleRate: 8000 }, 0)
  assert.ok('problem' in chunkPositions.add(wrong, 1000))
  assert.deepEqual(add(chunkPositions, bytes(10)).byteRange, [0, 10])
})

test('repeated bytes keep their range, and only new ones are stored', () => {
  const chunkPositions = open()
  for (let i = 0; i < 4; i++) add(chunkPositions, bytes(1000, i))
  chunkPositions.continueAt(2000)
  const repeated = add(chunkPositions, bytes(1500))
  assert.deepEqual([repeated.byteRange, repeated.stored], [[2000, 3500], undefined])
  const { byteRange, timeRange, stored } = add(chunkPositions, bytes(1000, 5))
  assert.deepEqual(byteRange, [3500, 4500])
  assert.deepEqual(timeRange, [3500 / 32_000, 4500 / 32_000])
  assert.deepEqual(stored?.audio.length, 500)
  assert.equal(stored?.chunk.isPart, true)
  assert.deepEqual(add(chunkPositions, bytes(10)).byteRange, [4500, 4510])
})

test('repeatable audio is restored as it was sent, including headers', async () => {
  const chunkPositions = open()
  const header = Buffer.from(wavHeader(format, 0))
  const sent = [header.subarray(0, 20), header.subarray(20), bytes(999), bytes(400, 3)]
  sent.push(Buffer.concat([header, bytes(60)]), Buffer.from('RI'), Buffer.from('GHT'))
  const audio: Uint8Array[] = []
  const chunks: ChunkRecord[] = []
  for (const chunk of sent) {
    const { stored } = add(chunkPositions, chunk)
    audio.push(stored!.audio)
    chunks.push(stored!.chunk)
  }
  const stored = Buffer.concat(audio)
  const readAudio = async (from: number, to: number) => stored.subarray(from, to)
  const { from, chunks: recent } = chunkPositions.repeatable()
  assert.deepEqual(recent, chunks)
  assert.deepEqual(await readChunks({ from, chunks: recent }, readAudio), Buffer.concat(sent))
  const later = { from: recent[1]!, chunks: recent.slice(2) }
  assert.deepEqual(await readChunks(later, readAudio), Buffer.concat(sent.slice(2)))
})

test('chunks that are too old cannot be repeated', () => {
  const chunkPositions = open()
  const times = [0, 10, 29, 31, 45]
  for (const seconds of times) add(chunkPositions, bytes(100), seconds * 1000)
  const { from, chunks } = chunkPositions.repeatable()
  assert.equal(from.at, 10_000)
  assert.deepEqual(
    chunks.map(({ at }) => at / 1000),
    [29, 31, 45],
  )
})

test('a restored record of chunks continues the ranges', () => {
  const before: ChunkRecord = { at: 900, received: 144, audio: 100 }
  const recent = [{ at: 1000, received: 344, audio: 300 }]
  const chunkPositions = open({ recent, before, ackBoundaries: [], pending: new Uint8Array(0) })
  assert.deepEqual(add(chunkPositions, bytes(100)).byteRange, [344, 444])
  assert.equal(chunkPositions.audioBytes, 400)
  chunkPositions.continueAt(144)
  assert.deepEqual(add(chunkPositions, bytes(100)).timeRange, [100 / 32_000, 200 / 32_000])
})

test('an incomplete header at the end is stored as audio', () => {
  const chunkPositions = open()
  add(chunkPositions, Buffer.from('RIFF'))
  assert.equal(chunkPositions.audioBytes, 0)
  const rest = chunkPositions.end(2000)
  assert.equal(Buffer.from(rest!.audio).toString(), 'RIFF')
  assert.deepEqual([rest!.chunk.received, rest!.chunk.audio, rest!.chunk.released], [4, 4, 4])
  assert.equal(chunkPositions.end(2000), undefined)
})

test('a header sent byte by byte is stored in few chunks', () => {
  const chunkPositions = open()
  const header = wavHeader(format, 0)
  const last = [...header.subarray(0, 40)]
    .map((byte) => add(chunkPositions, Uint8Array.of(byte)))
    .at(-1)!
  const { held, pending } = last.stored!.chunk
  assert.deepEqual([Buffer.from(held!, 'base64').length, pending], [1, 40])
})

test('a header that started before the restart is completed', () => {
  const header = wavHeader(format, 0)
  const recent = [{ at: 1000, received: 40, audio: 0, pending: 40 }]
  const pending = header.subarray(0, 40)
  const chunkPositions = open({
    recent,
    before: { at: 0, received: 0, audio: 0 },
    ackBoundaries: [],
    pending,
  })
  const { stored } = add(chunkPositions, Buffer.concat([header.subarray(40), bytes(100)]))
  assert.deepEqual(Buffer.from(stored!.audio), Buffer.from(bytes(100)))
})

test('expired chunks are dropped in one step after a pause', () => {
  const chunkPositions = open()
  const count = 200_000
  const one = bytes(1)
  const bringing = performance.now()
  for (let i = 0; i < count; i++) add(chunkPositions, one)
  const dropping = performance.now()
  add(chunkPositions, one, 60_000)
  // Dropping them one by one takes many times as long as adding them.
  assert.ok(performance.now() - dropping < dropping - bringing)
  assert.equal(chunkPositions.repeatable().from.received, count)
})

test('the repeatable audio is limited, regardless of chunk sizes', () => {
  const chunkPositions = open()
  const chunk = new Uint8Array(24 * 2 ** 20)
  for (let i = 0; i < 4; i++) add(chunkPositions, chunk)
  const { from, chunks } = chunkPositions.repeatable()
  assert.deepEqual([from.received, chunks.length], [2 * chunk.length, 2])
})

test('time ranges of repeated bytes without a recorded chunk follow the audio', () => {
  for (const header of [new Uint8Array(0), wavHeader(format, 0)]) {
    const chunkPositions = open()
    add(chunkPositions, Buffer.concat([header, bytes(320_000)]))
    add(chunkPositions, bytes(320_000), 100_000)
    add(chunkPositions, bytes(320_000), 200_000)
    chunkPositions.continueAt(0)
    const step = 32_000
    let before = 0
    for (let at = 0; at + step <= chunkPositions.received; at += step) {
      const { timeRange } = add(chunkPositions, bytes(step), 200_000)
      assert.equal(timeRange[0], before)
      assert.ok(Math.abs(timeRange[1] - (at + step) / 32_000) <= header.length / 32_000)
      before = timeRange[1]
    }
    if (header.length === 0) assert.equal(before, 30)
  }
})

test('repeating many chunks costs no more than sending them', () => {
  const chunkPositions = open()
  const count = 50_000
  const one = bytes(2)
  const bring = () => {
    const began = performance.now()
    for (let i = 0; i < count; i++) add(chunkPositions, one)
    return performance.now() - began
  }
  const first = bring()
  chunkPositions.continueAt(0)
  assert.ok(bring() < 10 * first)
})
