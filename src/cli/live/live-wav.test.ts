import assert from 'node:assert/strict'
import test from 'node:test'
import { wavHeader } from '../../audio/containers/wav-header.ts'
import { isWav, readWavStream } from './live-wav.ts'

const header = Buffer.from(wavHeader({ encoding: 's24', sampleRate: 48_000, channels: 2 }, 600))

test('isWav decides as soon as the bytes are sufficient', () => {
  assert.deepEqual(
    [0, 3, 11, 12].map((length) => isWav(header.subarray(0, length))),
    [undefined, undefined, undefined, true],
  )
  assert.deepEqual([isWav(Buffer.from('RIX')), isWav(Buffer.from('RIFF1234AVI '))], [false, false])
})

test('readWavStream returns the format and start of the samples once complete', () => {
  assert.equal(readWavStream(header.subarray(0, 43)), undefined)
  assert.deepEqual(readWavStream(header), {
    format: { encoding: 'wav/pcm', bit_depth: 24, sample_rate: 48_000, channels: 2 },
    start: 44,
    length: 600,
  })
})

test('chunks before the samples are skipped, and a streaming length is unlimited', () => {
  const title = Buffer.concat([Buffer.from('LIST\x03\0\0\0abc\0', 'latin1')])
  const ulaw = Buffer.from(wavHeader({ encoding: 'mulaw', sampleRate: 8000, channels: 1 }, 0))
  ulaw.writeUInt32LE(0xffff_ffff, 4)
  const stream = Buffer.concat([ulaw.subarray(0, 36), title, ulaw.subarray(36)])
  const { format, start, length } = readWavStream(stream)!
  assert.deepEqual(format, { encoding: 'wav/ulaw', bit_depth: 8, sample_rate: 8000, channels: 1 })
  assert.equal(start, 56)
  assert.ok(length > 1e12)
})

test('unsupported formats are rejected with the supported ones', () => {
  for (const format of [
    { encoding: 's16' as const, sampleRate: 22_050, channels: 1 },
    { encoding: 'f32' as const, sampleRate: 16_000, channels: 1 },
  ]) {
    const odd = Buffer.from(wavHeader(format, 100))
    assert.throws(() => readWavStream(odd), /Cannot stream this WAV .*give it as a file/)
  }
  const endless = Buffer.concat([
    header.subarray(0, 36),
    Buffer.alloc(70_000, 'LIST\xff\xff\xff\x7f'),
  ])
  assert.throws(() => readWavStream(endless), /no samples follow/)
})
