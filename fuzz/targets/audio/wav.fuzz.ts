import assert from 'node:assert/strict'
import { MAX_CHANNELS } from '../../../src/audio/audio-limits.ts'
import { type ByteSource, bytesSource } from '../../../src/audio/containers/byte-source.ts'
import { detectContainer } from '../../../src/audio/containers/detect-container.ts'
import { describeSamples, readStoredSamples } from '../../../src/audio/containers/stored-samples.ts'
import { readWavLayout } from '../../../src/audio/containers/wav-layout.ts'
import { bytesPerSample } from '../../../src/audio/pcm.ts'
import { AppError } from '../../../src/errors.ts'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { fuzzBytes } from '../../guided.ts'

/**
 * Maximum bytes of a read and maximum reads: a header must not make a reader allocate or loop.
 */
const [MAX_READ, MAX_READS] = [256 * 1024, 2500]

const plain = Buffer.from(createToneWav(0.01, 2))

/** The same samples after an extensible format chunk (40 bytes) with this tag and bit depth. */
function extensible(tag: number, bits: number): Buffer {
  const format = Buffer.alloc(48)
  plain.copy(format, 0, 12, 36)
  format.writeUInt32LE(40, 4)
  format.writeUInt16LE(0xfffe, 8)
  format.writeUInt16LE((2 * bits) / 8, 20)
  format.writeUInt16LE(bits, 22)
  format.writeUInt16LE(tag, 32)
  return Buffer.concat([plain.subarray(0, 12), format, plain.subarray(36)])
}

const rf64 = Buffer.concat([
  Buffer.from('RF64\xff\xff\xff\xffWAVEds64\x1c\0\0\0', 'latin1'),
  Buffer.alloc(28, 1),
  plain.subarray(12),
])
const listed = Buffer.concat([
  plain.subarray(0, 12),
  Buffer.from('LIST\x05\0\0\0INFO!\0', 'latin1'),
  plain.subarray(12),
])
const seeds = [plain, rf64, listed, extensible(1, 24), extensible(3, 32), extensible(6, 8)]

function counting(source: ByteSource): ByteSource {
  let reads = 0
  return {
    size: source.size,
    read(offset, length) {
      assert.ok(Number.isSafeInteger(offset) && offset >= 0, `read at ${offset}`)
      assert.ok(length <= MAX_READ, `read of ${length} bytes`)
      assert.ok(++reads <= MAX_READS, 'too many reads')
      return source.read(offset, length)
    },
  }
}

await fuzzBytes('wav', { wav: seeds }, (bytes) => {
  try {
    const source = counting(bytesSource(bytes))
    detectContainer(source)
    const layout = readWavLayout(source)
    if (!layout) return
    const { start, length, channels, encoding } = layout
    assert.ok(start >= 12 && length > 0 && start + length <= bytes.length)
    const info = describeSamples(layout, 'wav')
    assert.ok(Number.isFinite(info.duration) && info.duration >= 0)
    assert.ok(channels >= 1 && channels <= MAX_CHANNELS && info.sampleRate >= 1000)
    let frames = 0
    for (const planes of readStoredSamples(source, layout)) {
      assert.equal(planes.length, channels)
      for (const plane of planes) assert.ok(plane.every(Number.isFinite))
      frames += planes[0]!.length
    }
    assert.equal(frames, Math.floor(length / (channels * bytesPerSample(encoding))))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    assert.ok(error.status < 500)
  }
})
