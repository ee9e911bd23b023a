import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findStream, syncedStream } from './frame-sync.ts'

function frames(header: number[], length: number, count: number): Uint8Array {
  const bytes = new Uint8Array(length * count)
  for (let at = 0; at < bytes.length; at += length) bytes.set(header, at)
  return bytes
}

const adts = (length: number) => [
  0xff,
  0xf1,
  0x50,
  length >> 11,
  (length >> 3) & 255,
  (length & 7) << 5,
]

test('consecutive frames at the declared distance identify the stream', () => {
  const cases: [Uint8Array, string][] = [
    [frames([0xff, 0xfb, 0x90, 0], 417, 4), 'mp3'], // 128 kbit/s, 44.1 kHz
    [frames([0xff, 0xf3, 0x40, 0], 104, 4), 'mp3'], // version 2: 32 kbit/s, 22.05 kHz
    [frames([0xff, 0xe3, 0x48, 0], 288, 4), 'mp3'], // version 2.5: 32 kbit/s, 8 kHz
    [frames([0xff, 0xfd, 0xa4, 0], 576, 4), 'mp2'], // 192 kbit/s, 48 kHz
    [frames([0xff, 0xff, 0xc4, 0], 384, 4), 'mp2'], // layer 1: 384 kbit/s, 48 kHz
    [frames(adts(200), 200, 4), 'aac'],
    [frames([0x56, 0xe1, 0x20], 291, 4), 'latm'],
    [frames([0x0b, 0x77, 0, 0, 0x0c, 0x40], 384, 4), 'ac3'], // 96 kbit/s, 48 kHz
    [frames([0x0b, 0x77, 0, 0, 0x4c, 0x40], 416, 4), 'ac3'], // 96 kbit/s, 44.1 kHz
    [frames([0x0b, 0x77, 0, 0, 0x8c, 0x40], 576, 4), 'ac3'], // 96 kbit/s, 32 kHz
    [frames([0x0b, 0x77, 0, 0x7f, 0, 0x80], 256, 4), 'eac3'],
  ]
  for (const [bytes, stream] of cases) assert.equal(syncedStream(bytes, 0), stream)
})

test('a single frame is sufficient at the end of a file', () => {
  assert.equal(syncedStream(frames([0xff, 0xfb, 0x90, 0], 417, 1), 0), 'mp3')
})

test('a header without successors or with invalid fields is not a stream', () => {
  const broken = frames([0xff, 0xfb, 0x90, 0], 417, 4)
  broken.fill(0, 834, 838)
  assert.equal(syncedStream(broken, 0), undefined)
  for (const header of [
    [0xff, 0xfb, 0xf0, 0],
    [0xff, 0xfb, 0x00, 0],
    [0xff, 0xfb, 0x9c, 0],
    [0xff, 0xeb, 0x90, 0],
    [0xff, 0xf9, 0x90, 0, 0, 0],
    [0x0b, 0x77, 0, 0, 0xcc, 0x40],
    [0x0b, 0x77, 0, 0, 0x3f, 0x40],
    [0x0b, 0x77, 0, 0, 0x0c, 0xff],
  ]) {
    assert.equal(syncedStream(frames(header, 417, 4), 0), undefined)
  }
})

test('a stream is found after unrelated bytes', () => {
  const stream = frames([0xff, 0xfb, 0x90, 0], 417, 4)
  const cut = new Uint8Array(5000 + stream.length)
  cut.fill(0xff, 0, 20)
  cut.set(stream, 5000)
  assert.equal(findStream(cut), 'mp3')
  assert.equal(findStream(cut.subarray(0, 5800)), undefined)
})

test('noise is not detected as a stream', () => {
  let state = 1
  const noise = Uint8Array.from({ length: 65_536 }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state >>> 24
  })
  assert.equal(findStream(noise), undefined)
})
