import assert from 'node:assert/strict'
import test from 'node:test'
import { bytesPerSample, type SampleEncoding } from '../pcm.ts'
import { findContradiction, wavHeader } from './wav-header.ts'
import { readWavLayout } from './wav-layout.ts'

const encodings: SampleEncoding[] = ['u8', 's16', 's24', 's32', 'alaw', 'mulaw', 'f32', 'f64']

/** How a reader parses a file of this size that begins with `header`. */
function read(header: Uint8Array, size: number) {
  return readWavLayout({ size, read: (at, length) => header.subarray(at, at + length) })
}

test('wavHeader round-trips every encoding and channel count', () => {
  for (const encoding of encodings) {
    for (const channels of [1, 3, 8]) {
      const format = { encoding, sampleRate: 44_100, channels }
      const length = 1001 * bytesPerSample(encoding) * channels
      const header = wavHeader(format, length)
      const padded = header.length + length + (length % 2)
      const expected = { ...format, start: 44, length, declaredLength: length, unreadLength: 0 }
      assert.deepEqual(read(header, padded), expected)
      const fields = Buffer.from(header)
      assert.equal(fields.toString('latin1', 0, 4), 'RIFF')
      assert.equal(fields.readUInt32LE(4), padded - 8)
      assert.equal(fields.readUInt16LE(32), bytesPerSample(encoding) * channels)
      assert.equal(fields.readUInt16LE(34), bytesPerSample(encoding) * 8)
      assert.equal(fields.readUInt32LE(28), 44_100 * bytesPerSample(encoding) * channels)
    }
  }
})

test('wavHeader writes the format tags of PCM, A-law and mu-law', () => {
  const tags = encodings.map((encoding) => {
    const header = Buffer.from(wavHeader({ encoding, sampleRate: 8000, channels: 1 }, 0))
    return `${encoding} ${header.readUInt16LE(20)}`
  })
  assert.deepEqual(tags.slice(0, 6), ['u8 1', 's16 1', 's24 1', 's32 1', 'alaw 6', 'mulaw 7'])
})

test('a recording longer than 32-bit sizes is read to the end of its file', () => {
  const format = { encoding: 's32', sampleRate: 48_000, channels: 8 } as const
  const most = 0xffff_ffff - 36 - 31
  assert.equal(read(wavHeader(format, most), 44 + most)?.length, most)
  const length = 8 * 4 * 48_000 * 10_800
  assert.equal(read(wavHeader(format, length), 44 + length)?.length, length)
})

type Fields = Partial<Record<'tag' | 'channels' | 'rate' | 'frame' | 'bits' | 'kind', number>>

function fmt({ tag = 1, channels = 2, rate = 16_000, frame = 0, bits = 24, kind }: Fields) {
  const body = Buffer.alloc(kind === undefined ? 16 : 40)
  body.writeUInt16LE(tag, 0)
  body.writeUInt16LE(channels, 2)
  body.writeUInt32LE(rate, 4)
  body.writeUInt16LE(frame, 12)
  body.writeUInt16LE(bits, 14)
  if (kind !== undefined) body.writeUInt16LE(kind, 24)
  return body
}

test('a format chunk that contradicts the session is reported', () => {
  const cases: [Fields, RegExp | undefined][] = [
    [{}, undefined],
    [{ frame: 6 }, undefined],
    [{ frame: 1 }, undefined],
    [{ bits: 20 }, undefined],
    [{ tag: 0xfffe, kind: 1 }, undefined],
    [{ tag: 0xfffe, kind: 3 }, /format is 3, the session's is 1/],
    [{ tag: 0xfffe }, /format is 65534/],
    [{ tag: 3 }, /format is 3/],
    [{ channels: 1 }, /1 channels, not 2/],
    [{ rate: 8000 }, /8000 Hz, not 16000/],
    [{ bits: 16 }, /16 bits per sample, not 24/],
    [{ frame: 8 }, /32 bits per sample, not 24/],
  ]
  const session = { encoding: 's24', sampleRate: 16_000, channels: 2 } as const
  for (const [fields, expected] of cases) {
    const found = findContradiction(fmt(fields), session)
    if (expected) assert.match(found ?? '', expected)
    else assert.equal(found, undefined, JSON.stringify(fields))
  }
  assert.match(findContradiction(fmt({}).subarray(0, 14), session) ?? '', /has 14 bytes/)
})

test('companded audio is recognized by its format tag', () => {
  for (const [encoding, tag] of [
    ['alaw', 6],
    ['mulaw', 7],
  ] as const) {
    const session = { encoding, sampleRate: 8000, channels: 1 }
    const fields = { channels: 1, rate: 8000, bits: 8 }
    assert.equal(findContradiction(fmt({ ...fields, tag }), session), undefined)
    assert.match(findContradiction(fmt({ ...fields, tag: 1 }), session) ?? '', /format is 1/)
    assert.match(findContradiction(fmt({ ...fields, tag: 13 - tag }), session) ?? '', /format is/)
  }
})
