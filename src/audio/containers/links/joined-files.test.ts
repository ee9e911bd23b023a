import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeMedia } from '../../decode-media.ts'
import { probeMedia } from '../../probe-media.ts'
import { bytesSource } from '../byte-source.ts'
import { findJoinedFiles } from './joined-files.ts'

const { signal } = new AbortController()
const fixture = (name: string) => join(import.meta.dirname, '../../../../test/fixtures', name)
const pcm = readFileSync(fixture('speech.wav')).subarray(44)

function bigEndian(name: string, ...sizes: number[]): Buffer {
  const bytes = Buffer.alloc(4 * sizes.length)
  for (const [i, size] of sizes.entries()) bytes.writeUInt32BE(size, 4 * i)
  return Buffer.concat([Buffer.from(name, 'latin1'), bytes])
}

/** An AU file of 16 bits. */
function auFile(rate: number, size = pcm.length): Buffer {
  return Buffer.concat([bigEndian('.snd', 24, size, 3, rate, 1), Buffer.from(pcm).swap16()])
}

/** A CAF file of 16 bits, little-endian; its data may declare no size. */
function cafFile(size: readonly [number, number] = [0, pcm.length + 4]): Buffer {
  const rate = Buffer.alloc(8)
  rate.writeDoubleBE(16_000)
  const description = [rate, bigEndian('lpcm', 2, 2, 1, 1, 16)]
  const chunks = [bigEndian('caff', 0x10000), bigEndian('desc', 0, 32), ...description]
  return Buffer.concat([...chunks, bigEndian('data', ...size, 0), pcm])
}

const linksOf = (format: Parameters<typeof findJoinedFiles>[1], ...files: Buffer[]) => {
  return findJoinedFiles(bytesSource(Buffer.concat(files)), format)
}

test('joined files of formats with a declared size are read one after the other', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'joined-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'joined')
  const encoded = (extension: string) => readFileSync(fixture(`encodings/speech.${extension}`))
  const files = {
    aiff: [encoded('aiff'), encoded('aiff')],
    w64: [encoded('w64'), encoded('w64')],
    wv: [encoded('wv'), encoded('wv')],
    caf: [cafFile(), cafFile()],
    au: [auFile(16_000), auFile(32_000), auFile(16_000)],
  }
  for (const [format, parts] of Object.entries(files)) {
    writeFileSync(path, Buffer.concat(parts))
    const seconds = format === 'au' ? 10 : 8
    const { duration } = await decodeMedia(path, `${path}.pcm`, { signal, maxSeconds: 60 })
    assert.ok(Math.abs(duration - seconds) < 0.1, `${format}: ${duration}`)
    const probed = await probeMedia(path, { signal })
    assert.ok(Math.abs(probed.duration - seconds) < 0.1, `${format} probed: ${probed.duration}`)
  }
})

test('a single file, one of unknown size and one with other bytes after it have no parts', () => {
  assert.deepEqual(linksOf('au', auFile(16_000)), [])
  assert.deepEqual(linksOf('au', auFile(16_000, 0xffff_ffff), auFile(16_000)), [])
  assert.deepEqual(linksOf('aiff', bigEndian('FORM', 0), bigEndian('tail', 0)), [])
  assert.deepEqual(linksOf('caf', cafFile([0xffff_ffff, 0xffff_ffff]), cafFile()), [])
  assert.deepEqual(linksOf('caf', cafFile(), bigEndian('free', 0, 0)), [])
  assert.deepEqual(linksOf('w64', bigEndian('riff', 0, 0, 0, 0)), [])
})

test('a pad byte follows a file of odd size', () => {
  const odd = Buffer.concat([bigEndian('FORM', 1), Buffer.alloc(2)])
  assert.deepEqual(linksOf('aiff', odd, odd), [
    { start: 0, end: 10 },
    { start: 10, end: 20 },
  ])
})

test('only the first thousand of endless files are parts', () => {
  const files = Array.from({ length: 2000 }, () => bigEndian('FORM', 0))
  assert.equal(linksOf('aiff', ...files).length, 1000)
})

/** A block of a WavPack file without content. */
function wavpackBlock({ index = 0, samples = 1, flags = 0x800 }): Buffer {
  const block = Buffer.alloc(32)
  block.write('wvpk')
  for (const [at, value] of [
    [4, 24],
    [16, index],
    [20, samples],
    [24, flags],
  ] as const) {
    block.writeUInt32LE(value, at)
  }
  return block
}

test('tags and further channels of a WavPack file begin no other file', () => {
  const first = [{}, { flags: 0 }, { samples: 0 }, { index: 1 }].map(wavpackBlock)
  const late = wavpackBlock({})
  late[10] = 1
  assert.deepEqual(linksOf('wv', ...first, late), [])
  assert.equal(linksOf('wv', ...first, late, wavpackBlock({}))[1]!.start, 160)
})
