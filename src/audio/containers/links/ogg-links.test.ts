import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesSource } from '../byte-source.ts'
import { findOggLinks } from './ogg-links.ts'

function page(serial: number, content: string, { isBeginning = false } = {}): Buffer {
  const header = Buffer.alloc(28)
  header.write('OggS')
  header[5] = isBeginning ? 2 : 0
  header.writeUInt32LE(serial, 14)
  header[26] = 1
  header[27] = content.length
  return Buffer.concat([header, Buffer.from(content)])
}

/** A link of one stream per format, each with a page of audio. */
function link(serial: number, ...formats: string[]): Buffer {
  const beginnings = formats.map((format, i) => page(serial + i, format, { isBeginning: true }))
  return Buffer.concat([...beginnings, ...formats.map((_, i) => page(serial + i, 'audio'))])
}

const linksOf = (...links: Buffer[]) => findOggLinks(bytesSource(Buffer.concat(links)))

test('a chained Ogg file is divided where its format changes', () => {
  const [a, b, c] = [link(1, 'mono'), link(2, 'mono'), link(3, 'stereo')]
  const size = a.length + b.length + c.length
  assert.deepEqual(linksOf(a, b, c), [
    { start: 0, end: a.length + b.length, links: 2 },
    { start: a.length + b.length, end: size, links: 1 },
  ])
})

test('a chain of links of one format is one part', () => {
  const [a, b] = [link(1, 'mono'), link(2, 'mono')]
  assert.deepEqual(linksOf(a, b), [{ start: 0, end: a.length + b.length, links: 2 }])
})

test('a file of one link, also of several streams, has no parts', () => {
  assert.deepEqual(linksOf(link(1, 'mono')), [])
  assert.deepEqual(linksOf(link(1, 'picture', 'mono')), [])
  assert.deepEqual(linksOf(Buffer.from('no Ogg')), [])
})

test('a damaged chain yields the parts before the damage', () => {
  const [a, b] = [link(1, 'mono'), link(2, 'stereo')]
  const parts = linksOf(a, b, Buffer.from('xxx'), link(3, 'mono'))
  assert.deepEqual(
    parts.map(({ start }) => start),
    [0, a.length],
  )
})

test('a file of endless empty pages is abandoned', () => {
  for (const isBeginning of [false, true]) {
    const [first, empty] = [page(1, 'mono', { isBeginning: true }), page(1, '', { isBeginning })]
    let reads = 0
    const read = (at: number) => {
      reads++
      return at === 0 ? first : at < 2 ** 39 ? empty : page(2, '')
    }
    assert.deepEqual(findOggLinks({ size: 2 ** 40, read }), [])
    assert.ok(reads < 600_000, `${reads}`)
  }
})

test('parts of any bytes are contiguous up to the end', () => {
  const good = Buffer.concat([link(1, 'mono'), link(2, 'stereo'), link(3, 'mono')])
  const edits = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 8 })
  fc.assert(
    fc.property(edits, (changes) => {
      const bytes = Buffer.from(good)
      for (const [at, value] of changes) bytes[at] = value
      const parts = findOggLinks(bytesSource(bytes))
      for (const [i, { start, end }] of parts.entries()) {
        assert.ok(start < end && end === (parts[i + 1]?.start ?? bytes.length))
      }
    }),
  )
})
