import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import { AppError } from '../../errors.ts'
import { bytesSource } from './byte-source.ts'
import { describeSamples, readStoredSamples } from './stored-samples.ts'
import { readWavLayout } from './wav-layout.ts'

type Format = Partial<Record<'tag' | 'channels' | 'rate' | 'frame' | 'bits', number>>

function chunk(id: string, content: Uint8Array, size = content.length): Buffer {
  const header = Buffer.alloc(8)
  header.write(id, 'latin1')
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)])
}

function fmt({ tag = 1, channels = 1, rate = 16_000, bits = 16, frame }: Format = {}): Buffer {
  const content = Buffer.alloc(16)
  content.writeUInt16LE(tag, 0)
  content.writeUInt16LE(channels, 2)
  content.writeUInt32LE(rate, 4)
  content.writeUInt16LE(frame ?? (channels * bits) / 8, 12)
  content.writeUInt16LE(bits, 14)
  return chunk('fmt ', content)
}

function extensible(tag: number, bits: number): Buffer {
  const guid = Buffer.alloc(24)
  guid.writeUInt16LE(tag, 8)
  const content = Buffer.concat([fmt({ tag: 0xfffe, bits }).subarray(8), guid])
  return chunk('fmt ', content)
}

function wav(chunks: Buffer[], { outer = 'RIFF', size }: { outer?: string; size?: number } = {}) {
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks])
  return chunk(outer, body, size ?? body.length)
}

const read = (bytes: Uint8Array) => readWavLayout(bytesSource(bytes))
const samples = Buffer.alloc(100)

test('a plain WAV file yields its format and the position of its samples', () => {
  assert.deepEqual(read(wav([fmt({ channels: 2, rate: 8000 }), chunk('data', samples)])), {
    sampleRate: 8000,
    channels: 2,
    encoding: 's16',
    start: 44,
    length: 100,
    declaredLength: 100,
    unreadLength: 0,
  })
})

test('a frame size that is too small for the samples is ignored', () => {
  const format = fmt({ channels: 2, frame: 2 })
  assert.equal(read(wav([format, chunk('data', samples)]))?.encoding, 's16')
})

/** Writes a file with the highest byte of each number first. */
function rifx(content: Buffer, { tag = 1, bits = 16 }: Format = {}): Buffer {
  const format = Buffer.alloc(16)
  for (const [value, at] of [
    [tag, 0],
    [1, 2],
    [bits / 8, 12],
    [bits, 14],
  ] as const) {
    format.writeUInt16BE(value, at)
  }
  format.writeUInt32BE(16_000, 4)
  const chunks = [
    ['fmt ', format],
    ['LIST', Buffer.from('odd')],
    ['data', content],
  ] as const
  const body = chunks.map(([id, chunkContent]) => {
    const header = Buffer.from(`${id}\0\0\0\0`, 'latin1')
    header.writeUInt32BE(chunkContent.length, 4)
    return Buffer.concat([header, chunkContent, Buffer.alloc(chunkContent.length % 2)])
  })
  const outer = Buffer.from('RIFX\0\0\0\0WAVE', 'latin1')
  outer.writeUInt32BE(Buffer.concat(body).length + 4, 4)
  return Buffer.concat([outer, ...body])
}

test('RIFX is read as big-endian, including its samples', () => {
  const cases: [Format, bytes: number[], expected: number[]][] = [
    [{ bits: 16 }, [0x40, 0, 0xc0, 0], [0.5, -0.5]],
    [{ bits: 24 }, [0x40, 0, 0, 0xc0, 0, 0], [0.5, -0.5]],
    [{ tag: 3, bits: 32 }, [0x3f, 0, 0, 0, 0xbf, 0, 0, 0], [0.5, -0.5]],
    [{ bits: 8 }, [192, 64], [0.5, -0.5]],
  ]
  for (const [format, bytes, expected] of cases) {
    const source = bytesSource(rifx(Buffer.from(bytes), format))
    const layout = readWavLayout(source)!
    const planes = [...readStoredSamples(source, layout)].map(([plane]) => [...plane!])
    assert.deepEqual(planes, [expected], JSON.stringify(format))
  }
  const file = bytesSource(rifx(samples))
  assert.equal(describeSamples(readWavLayout(file)!, 'wav').codec, 'pcm_s16be')
  const compressed = bytesSource(rifx(samples, { tag: 17 }))
  assert.throws(() => readWavLayout(compressed), { code: 'media_unsupported' })
})

test('the encoding follows from the format tag and the bytes per sample', () => {
  const cases: [Format, string | undefined][] = [
    [{ bits: 8 }, 'u8'],
    [{ bits: 24 }, 's24'],
    [{ bits: 32 }, 's32'],
    [{ bits: 20, frame: 3 }, 's24'],
    [{ bits: 24, frame: 4 }, 's32'],
    [{ bits: 12, frame: 0 }, 's16'],
    [{ tag: 3, bits: 32 }, 'f32'],
    [{ tag: 3, bits: 64 }, 'f64'],
    [{ tag: 6, bits: 8 }, 'alaw'],
    [{ tag: 7, bits: 8 }, 'mulaw'],
  ]
  for (const [format, encoding] of cases) {
    const layout = read(wav([fmt(format), chunk('data', samples)]))
    assert.equal(layout?.encoding, encoding, JSON.stringify(format))
  }
  assert.equal(read(wav([extensible(3, 32), chunk('data', samples)]))?.encoding, 'f32')
})

test('compressed audio is left to libav', () => {
  for (const tag of [2, 0x11, 0x31, 0x55]) {
    assert.equal(read(wav([fmt({ tag, bits: 4, frame: 256 }), chunk('data', samples)])), undefined)
  }
})

test('other chunks may appear anywhere, with even or odd length', () => {
  const list = chunk('LIST', Buffer.alloc(7))
  const junk = chunk('JUNK', Buffer.alloc(3000))
  const late = read(wav([junk, list, fmt(), list, chunk('data', samples), list]))
  assert.deepEqual([late?.start, late?.length], [12 + 3008 + 16 + 24 + 16 + 8, 100])
  const first = read(wav([chunk('data', samples), list, fmt()]))
  assert.deepEqual([first?.start, first?.length, first?.encoding], [20, 100, 's16'])
})

test('a chunk of odd length may lack its pad byte', () => {
  const odd = chunk('LIST', Buffer.from('INFOINAM\x03\0\0\0abc')).subarray(0, -1)
  const layout = read(wav([fmt(), odd, chunk('data', samples)]))
  assert.deepEqual([layout?.start, layout?.length], [12 + 24 + 23 + 8, 100])
  const padded = chunk('LIST', Buffer.alloc(7))
  padded[padded.length - 1] = 0x20 // some writers pad with something else than zero
  assert.equal(read(wav([fmt(), padded, chunk('data', samples)]))?.length, 100)
})

test('a truncated file yields the samples it contains', () => {
  const layout = read(wav([fmt(), chunk('data', samples)]).subarray(0, 84))
  assert.deepEqual([layout?.length, layout?.declaredLength], [40, 100])
})

test('bytes after the samples are counted unless they form another chunk', () => {
  const file = wav([fmt(), chunk('data', samples)])
  const list = chunk('LIST', Buffer.alloc(7))
  const [rest, odd] = [Buffer.alloc(60, 0x91), chunk('data', samples.subarray(1))]
  const cases: [what: string, bytes: Buffer[], unread: number][] = [
    ['metadata', [list, chunk('bext', samples), chunk('id3 ', samples)], 0],
    ['another file', [file], file.length],
    ['another file after metadata', [list, file], file.length],
    ['a second data chunk', [chunk('data', samples), list], 100],
    ['one that is cut', [chunk('data', samples).subarray(0, 40)], 32],
    ['samples without a header', [rest], 60],
    ['less than a header', [rest.subarray(0, 5)], 5],
  ]
  for (const [what, bytes, unread] of cases) {
    const layout = read(Buffer.concat([file, ...bytes]))
    assert.deepEqual([layout?.length, layout?.unreadLength], [100, unread], what)
  }
  assert.equal(read(Buffer.concat([wav([fmt(), odd]), list]))?.unreadLength, 0)
  assert.equal(read(wav([chunk('data', samples), chunk('data', samples), fmt()]))?.unreadLength, 0)
})

test('an unknown length is read up to the end of the file', () => {
  for (const [inner, size] of [
    [0xffff_ffff, 0xffff_ffff],
    [0x7fff_ffff, 0x7fff_ffff],
    [0x7fff_f000, 0x7fff_f024],
    [0x8000_0000, 0x8000_0024],
    [0xffff_ffdb, 0xffff_ffff],
    [0, 0],
    [0, 36],
    [0, 0xffff_ffff],
    [0, undefined],
  ] as const) {
    const bytes = wav([fmt(), chunk('data', samples, inner)], size === undefined ? {} : { size })
    const layout = read(bytes)
    assert.deepEqual([layout?.length, layout?.declaredLength], [100, 100], `${inner} ${size}`)
  }
})

test('RF64 and BW64 files take their size from the ds64 chunk', () => {
  const sizes = Buffer.alloc(28)
  for (const [outer, size, declaredLength] of [
    ['RF64', 60n, 60],
    ['BW64', 60n, 60],
    // Of a recorder that does not know the size yet.
    ['RF64', 2n ** 64n - 1n, samples.length],
  ] as const) {
    sizes.writeBigUInt64LE(size, 8)
    const data = chunk('data', samples, 0xffff_ffff)
    const bytes = wav([chunk('ds64', sizes), fmt(), data], { outer, size: 0xffff_ffff })
    assert.equal(read(bytes)?.declaredLength, declaredLength)
  }
})

test('invalid header values are rejected with the value', () => {
  const refused: [Buffer, string, RegExp][] = [
    [wav([fmt({ rate: 0 }), chunk('data', samples)]), 'media_unsupported', /rate of 0 Hz/],
    [wav([fmt({ rate: 768_001 }), chunk('data', samples)]), 'media_unsupported', /768001/],
    [wav([fmt({ channels: 0 }), chunk('data', samples)]), 'media_unsupported', /0 channels/],
    [wav([fmt({ channels: 17 }), chunk('data', samples)]), 'media_unsupported', /17 channels/],
    [wav([fmt(), chunk('data', Buffer.alloc(0))]), 'media_undecodable', /without samples/],
    [
      wav([fmt(), chunk('data', Buffer.alloc(0)), chunk('LIST', samples)]),
      'media_undecodable',
      /without samples/,
    ],
    [wav([fmt(), chunk('data', Buffer.alloc(1))]), 'media_undecodable', /without samples/],
    [wav([fmt()]), 'media_undecodable', /without samples/],
    [wav([chunk('data', samples)]), 'media_undecodable', /without a format/],
  ]
  for (const [bytes, code, message] of refused) {
    assert.throws(() => read(bytes), { code, message })
  }
})

test('a file of endless empty chunks is abandoned', () => {
  let reads = 0
  const empty = wav([
    Buffer.concat(Array.from({ length: 20_000 }, () => chunk('JUNK', samples.subarray(100)))),
  ])
  const source = bytesSource(empty)
  const counting = {
    ...source,
    read: (offset: number, length: number) => {
      reads++
      return source.read(offset, length)
    },
  }
  assert.throws(() => readWavLayout(counting), { code: 'media_undecodable' })
  assert.ok(reads < 2000)
})

test('any bytes yield a layout inside the file or an AppError', () => {
  const good = wav([chunk('LIST', Buffer.alloc(7)), fmt(), chunk('data', samples)])
  const damaged = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 12 })
    .map((edits) => {
      const bytes = Uint8Array.from(good)
      for (const [at, value] of edits) bytes[at] = value
      return bytes
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 80 }), damaged), fc.nat(200), (bytes, end) => {
      try {
        const layout = read(bytes.subarray(0, end))
        if (!layout) return
        assert.ok(layout.length > 0 && layout.start + layout.length <= Math.min(end, bytes.length))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }),
    { numRuns: rounds(750) },
  )
})
