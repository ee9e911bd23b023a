import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePcm, type SampleEncoding, toInt16 } from './pcm.ts'

function decodeOne(encoding: SampleEncoding, bytes: number[]): number {
  return decodePcm(Uint8Array.from(bytes), { encoding, channels: 1 })[0]![0]!
}

const float = (value: number) => [...new Uint8Array(Float32Array.of(value).buffer)]
const double = (value: number) => [...new Uint8Array(Float64Array.of(value).buffer)]

test('every encoding decodes its lowest, middle and highest sample', () => {
  const cases: [SampleEncoding, number[], number][] = [
    ['u8', [0], -1],
    ['u8', [128], 0],
    ['u8', [255], 127 / 128],
    ['s16', [0x00, 0x80], -1],
    ['s16', [0xff, 0x7f], 32_767 / 32_768],
    ['s16', [0xff, 0xff], -1 / 32_768],
    ['s24', [0, 0, 0x80], -1],
    ['s24', [0xff, 0xff, 0xff], -1 / 8_388_608],
    ['s24', [0, 0x80, 0x01], 98_304 / 8_388_608],
    ['s32', [0, 0, 0, 0x80], -1],
    ['s32', [0, 0, 0, 0x40], 0.5],
    ['f32', float(0.25), 0.25],
    ['f64', double(-0.75), -0.75],
  ]
  for (const [encoding, bytes, sample] of cases) {
    assert.equal(decodeOne(encoding, bytes), sample, `${encoding} ${bytes}`)
  }
})

test('companded bytes decode to the levels of G.711', () => {
  const levels = (encoding: SampleEncoding, bytes: number[]) =>
    bytes.map((byte) => decodeOne(encoding, [byte]) * 32_768)
  assert.deepEqual(
    levels('mulaw', [0x00, 0x80, 0x7f, 0xff, 0x8f]),
    [-32_124, 32_124, -0, 0, 16_764],
  )
  assert.deepEqual(levels('alaw', [0x2a, 0xaa, 0x55, 0xd5, 0xc5]), [-32_256, 32_256, -8, 8, 264])
})

test('channels are deinterleaved, and an incomplete frame is dropped', () => {
  const bytes = new Uint8Array(Int16Array.of(1, 2, 3, 4, 5).buffer)
  const planes = decodePcm(bytes, { encoding: 's16', channels: 2 })
  assert.deepEqual(
    planes.map((plane) => [...plane].map((sample) => sample * 32_768)),
    [
      [1, 3],
      [2, 4],
    ],
  )
})

test('decodePcm accepts bytes at any offset of their buffer', () => {
  const bytes = Uint8Array.of(9, 0x00, 0x40, 9)
  assert.deepEqual(
    [...decodePcm(bytes.subarray(1, 3), { encoding: 's16', channels: 1 })[0]!],
    [0.5],
  )
})

test('invalid float samples become silence', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -1e30]) {
    assert.equal(decodeOne('f32', float(value)), 0)
    assert.equal(decodeOne('f64', double(value)), 0)
  }
})

test('16-bit samples round-trip through floats; others are rounded and clipped', () => {
  const all = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768)
  const planes = decodePcm(new Uint8Array(all.buffer), { encoding: 's16', channels: 1 })
  assert.deepEqual(toInt16(planes[0]!), all)
  assert.deepEqual([...toInt16(Float32Array.of(1, -2, 1.6 / 32_768))], [32_767, -32_768, 2])
})
