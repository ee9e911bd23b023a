import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fragmentedMp4, mp4, nestedMp4 } from '../../../test/support/audio/hostile-media.ts'
import { bytesSource } from './byte-source.ts'
import { readBoxes } from './mp4-boxes.ts'
import { checkMp4Tables } from './mp4-tables.ts'

const check = (file: Uint8Array) => checkMp4Tables(bytesSource(file))

function words(...numbers: number[]): Buffer {
  const buffer = Buffer.alloc(4 * numbers.length)
  for (const [i, number] of numbers.entries()) buffer.writeUInt32BE(number, 4 * i)
  return buffer
}

test('regular MP4 recordings are accepted', () => {
  const names = [
    'encodings/speech.m4a',
    'films/film.mov',
    'films/film.3gp',
    'films/late-sound.mp4',
    'films/silent-film.mp4',
  ]
  for (const name of [...names, 'irregular/damaged.m4a', 'irregular/no-index.m4a']) {
    check(readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url)))
  }
  check(mp4([{ samples: 1000 }]))
  // Stored samples: one per tick, which libav reads in chunks.
  check(mp4([{ samples: 100_000, delta: 1 }]))
})

test('an MP4 file that declares more samples than it has bytes is rejected', () => {
  const files: Record<string, Buffer> = {
    'samples of one size': mp4([{ samples: 85_000_000 }]),
    'over all tracks': mp4([{ samples: 1000 }, { samples: 1000 }, { samples: 1000 }]),
    'a compressed index': mp4([{ samples: 85_000_000 }], { packed: true }),
    'a run of a fragment': fragmentedMp4(85_000_000),
    'samples of four bits': mp4([{ tables: { stz2: words(0, 4, 85_000_000) } }]),
    'pieces of stored sound': mp4([{ samples: 2 ** 31, delta: 1 }]),
    'chunks of stored sound': mp4([
      {
        samples: 1e6,
        delta: 1,
        tables: { stsc: words(0, 1, 1, 1e6, 1), stco: words(0, 500, ...Array(500).fill(40)) },
      },
    ]),
    'sizes of encrypted samples': mp4([{ tables: { saiz: words(0, 85_000, 0x10000000) } }]),
  }
  for (const [name, file] of Object.entries(files)) {
    const refused = { code: 'media_unsupported', message: /samples declared in \d+ bytes/ }
    assert.throws(() => check(file), refused, name)
  }
})

test('MP4 tables with more entries than the file can hold are rejected', () => {
  for (const type of ['stts', 'ctts', 'stsc', 'stco', 'co64', 'stss', 'stps', 'elst']) {
    const file = mp4([{ tables: { [type]: words(0, 0x1000_0000, 1, 1) } }])
    const message = new RegExp(`entries in ${type} declared`)
    assert.throws(() => check(file), { code: 'media_unsupported', message }, type)
  }
})

test('an MP4 edit list that multiplies the samples is rejected', () => {
  const edits = Buffer.concat([words(0, 2000), Buffer.alloc(2000 * 12)])
  const file = mp4([{ samples: 300_000, tables: { elst: edits } }])
  check(mp4([{ samples: 20_000, tables: { elst: edits } }]))
  const padded = Buffer.concat([file, Buffer.alloc(300_000)])
  assert.throws(() => check(padded), { code: 'media_unsupported', message: /edits of 600000000/ })
})

test('an MP4 file with too many tracks or boxes is rejected', () => {
  const tracks = mp4(Array(101).fill({}))
  assert.throws(() => check(tracks), { code: 'media_unsupported', message: /100 tracks/ })
  const boxes = Buffer.alloc(8 * 1_000_001, words(8, 0x66726565))
  assert.throws(() => check(boxes), { code: 'media_unsupported', message: /1000000 boxes/ })
})

test('boxes are followed to the depth that libav follows, and loops are not', () => {
  const deepest = (file: Buffer) =>
    Math.max(...[...readBoxes(bytesSource(file))].map(({ box }) => box.depth))
  assert.equal(deepest(nestedMp4(40)), 10)
  assert.equal(deepest(nestedMp4(3)), 8)
  assert.deepEqual([...readBoxes(bytesSource(words(7, 0x6d6f6f76, 0, 0)))], [])
})

test('a compressed index that inflates beyond 32 MB is rejected', () => {
  const bomb = mp4([{ tables: { free: Buffer.alloc(40 * 1024 * 1024) } }], { packed: true })
  assert.throws(() => check(bomb), { code: 'media_unsupported', message: /more than 32 MB/ })
})
