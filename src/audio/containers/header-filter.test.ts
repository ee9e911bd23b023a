import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { AudioFormat } from '../audio-format.ts'
import { createHeaderFilter } from './header-filter.ts'
import { wavHeader } from './wav-header.ts'

const format: AudioFormat = { encoding: 's16', sampleRate: 16_000, channels: 2 }
const plain = Buffer.from(wavHeader(format, 0xffff_0000))

/** A chunk with its pad byte. */
function chunk(id: string, body: Uint8Array, size = body.length): Buffer {
  const header = Buffer.alloc(8)
  header.write(id, 'latin1')
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, body, Buffer.alloc(body.length % 2)])
}

function wrap(chunks: Buffer[], { size = 0, dataSize = 0xffff_ffff } = {}): Buffer {
  const data = chunk('data', Buffer.alloc(0), dataSize)
  return chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks, data]), size)
}

const fmt = plain.subarray(12, 36)
const extensible = Buffer.from(chunk('fmt ', Buffer.concat([fmt.subarray(8), Buffer.alloc(24)])))
extensible.writeUInt16LE(0xfffe, 8)
extensible.writeUInt16LE(1, 32)

/** Feeds all chunks and checks each result; recreates the filter from its state each time. */
function filterAll(chunks: Uint8Array[]): Buffer {
  const sounds: Uint8Array[] = []
  let filter = createHeaderFilter(format)
  for (const bytes of chunks) {
    const before = filter.pending.length
    const taken = filter.write(bytes)
    assert.ok(!('problem' in taken), 'problem' in taken ? taken.problem : '')
    const { audio, held, released } = taken
    assert.equal(held.length + audio.length - released, bytes.length, 'no byte is lost')
    assert.deepEqual(Buffer.from(bytes.subarray(0, held.length)), Buffer.from(held))
    assert.ok(released === 0 || released === before)
    sounds.push(audio)
    filter = createHeaderFilter(format, filter.pending)
  }
  sounds.push(filter.end())
  assert.equal(filter.pending.length, 0)
  return Buffer.concat(sounds)
}

/** Cuts bytes at the given positions. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length]
  sorted.sort((a, b) => a - b)
  return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
}

const headers: [string, Buffer][] = [
  ['a plain header', plain],
  ['streaming sizes', wrap([fmt])],
  ['an extensible format', wrap([extensible], { size: 0xffff_ffff, dataSize: 0 })],
  ['an odd list before the samples', wrap([fmt, chunk('LIST', Buffer.from('INFOodd'))])],
  ['junk before the format', wrap([chunk('JUNK', Buffer.alloc(28)), fmt])],
]

/** Audio without the letter R, hence never the beginning of a header. */
const sounds = fc
  .uint8Array({ maxLength: 200 })
  .map((bytes) => bytes.map((b) => (b === 82 ? 0 : b)))
const places = fc.array(fc.nat(5000), { maxLength: 12 })

test('a header split across any chunks is removed', () => {
  for (const [name, header] of headers) {
    fc.assert(
      fc.property(sounds, places, (audio, at) => {
        const filtered = filterAll(cut(Buffer.concat([header, audio]), at))
        assert.deepEqual(filtered, Buffer.from(audio), name)
      }),
    )
  }
})

test('each chunk may have its own header', () => {
  const wrapped = fc.tuple(fc.option(fc.nat(headers.length - 1)), sounds)
  fc.assert(
    fc.property(fc.array(wrapped, { maxLength: 8 }), (parts) => {
      const chunks = parts.map(([n, audio]) => {
        return Buffer.concat([n === null ? Buffer.alloc(0) : headers[n]![1], audio])
      })
      assert.deepEqual(filterAll(chunks), Buffer.concat(parts.map(([, audio]) => audio)))
    }),
  )
})

test('audio that merely begins like a header is kept', () => {
  const letters = fc.constantFrom('R', 'RI', 'RIFF', 'RIFF1234', 'RIFF1234WAV', 'RIFFxxxxAVI ', 'x')
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 6 }), (texts) => {
      // Ends with a letter that no header has there, so that none forms by accident.
      const chunks = texts.map((text) => Buffer.from(text))
      assert.deepEqual(filterAll([...chunks, Buffer.from('_')]), Buffer.from(`${texts.join('')}_`))
      assert.deepEqual(filterAll(chunks), Buffer.from(texts.join('')))
    }),
  )
})

test('a header inside a chunk is kept as audio', () => {
  const bytes = Buffer.concat([Buffer.from([1, 2]), plain, Buffer.from([3])])
  assert.deepEqual(filterAll([bytes]), bytes)
  assert.deepEqual(filterAll([Buffer.concat([plain, bytes])]), bytes)
})

test('a chunk with a header is separated from the bytes held before it', () => {
  const filter = createHeaderFilter(format)
  filter.write(Buffer.from('RIF'))
  const taken = filter.write(Buffer.concat([plain, Buffer.from('sound')]))
  assert.deepEqual(taken, {
    audio: Buffer.from('RIFsound'),
    held: plain,
    released: 3,
  })
  assert.equal(filter.pending.length, 0)
})

test('an incomplete header is not released as audio', () => {
  const filter = createHeaderFilter(format)
  filter.write(plain.subarray(0, 40))
  assert.deepEqual(filter.pending, plain.subarray(0, 40))
  assert.equal(filter.end().length, 0)
})

test('a chunk with an invalid header is refused, and the next one is accepted', () => {
  const mono = Buffer.from(wavHeader({ ...format, channels: 1 }, 0))
  const refusals: [Buffer, RegExp][] = [
    [mono, /contradicts the session: 1 channels, not 2/],
    [wrap([]), /states no format/],
    [wrap([fmt, chunk('fmt ', mono.subarray(20, 36))]), /1 channels/],
    [wrap([chunk('JUNK', Buffer.alloc(65_536)), fmt]), /longer than 65536 bytes/],
    [wrap([chunk('JUNK', Buffer.alloc(0), 0xffff_ffff)]), /longer than 65536 bytes/],
    [wrap([chunk('fmt ', Buffer.alloc(0), 0xffff_ffff)]), /longer than 65536 bytes/],
    [wrap(Array.from({ length: 9000 }, () => chunk('JUNK', Buffer.alloc(0)))), /longer than 65536/],
  ]
  for (const [header, expected] of refusals) {
    for (const before of ['', 'RIF']) {
      const filter = createHeaderFilter(format, Buffer.from(before))
      const refused = filter.write(header)
      assert.match('problem' in refused ? refused.problem : '', expected)
      assert.deepEqual(Buffer.from(filter.pending), Buffer.from(before))
      const next = filter.write(Buffer.from('sound'))
      assert.ok('audio' in next && Buffer.from(next.audio).equals(Buffer.from(`${before}sound`)))
    }
  }
})

test('refusing the rest of a header keeps its pending first part', () => {
  const mono = Buffer.from(wavHeader({ ...format, channels: 1 }, 0))
  const filter = createHeaderFilter(format)
  filter.write(mono.subarray(0, 22))
  assert.match(JSON.stringify(filter.write(mono.subarray(22))), /1 channels/)
  assert.deepEqual(filter.pending, mono.subarray(0, 22))
})

test('a header may be up to 64 KiB long', () => {
  const most = wrap([chunk('JUNK', Buffer.alloc(65_536 - 12 - 8 - fmt.length - 8)), fmt])
  assert.equal(most.length, 65_536)
  assert.deepEqual(filterAll([most, Buffer.from('x')]), Buffer.from('x'))
  assert.deepEqual(filterAll([most.subarray(0, 65_535), Buffer.from('\0x')]).at(-1), 120)
})

test('empty chunks are ignored', () => {
  assert.equal(filterAll([Buffer.alloc(0), plain.subarray(0, 30), Buffer.alloc(0)]).length, 0)
})
