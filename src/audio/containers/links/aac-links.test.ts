import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { decodeMedia } from '../../decode-media.ts'
import { probeMedia } from '../../probe-media.ts'
import { bytesSource } from '../byte-source.ts'
import { findAacLinks } from './aac-links.ts'

const { signal } = new AbortController()
const fixtures = join(import.meta.dirname, '../../../../test/fixtures')
/** Streams of 32 and of 22.05 kHz. */
const [FAST, SLOW] = ['encodings/speech.aac', 'irregular/changing.aac']

/** A frame of 1024 bytes without content. */
function frame(rate: number): Buffer {
  const bytes = Buffer.alloc(1024)
  bytes.set([0xff, 0xf1, 0x40 | (rate << 2), 0x40, 0x80, 0x1f])
  return bytes
}

const linksOf = (...frames: Buffer[]) => findAacLinks(bytesSource(Buffer.concat(frames)))

test('frames of another rate begin a part, also in a later block', () => {
  const frames = Array.from({ length: 1500 }, (_, i) => frame(i < 2 ? 4 : i < 1200 ? 8 : 4))
  const ends = [0, 2 * 1024, 1200 * 1024, 1500 * 1024]
  const parts = [0, 1, 2].map((i) => ({ start: ends[i], end: ends[i + 1] }))
  assert.deepEqual(linksOf(...frames), parts)
})

test('a stream of one rate has no parts, and other bytes end the search', () => {
  assert.deepEqual(linksOf(frame(4), frame(4)), [])
  assert.deepEqual(linksOf(frame(4), Buffer.from('TAG'), frame(8)), [])
  assert.deepEqual(linksOf(), [])
})

test('only the first thousand of endless changes are parts', () => {
  const frames = Array.from({ length: 1500 }, (_, i) => frame(i % 2))
  assert.equal(linksOf(...frames).length, 1000)
})

test('the length of joined AAC streams is that of both rates', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'joined-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'joined.aac')
  writeFileSync(path, Buffer.concat([FAST, SLOW].map((name) => readFileSync(join(fixtures, name)))))
  const probed = await probeMedia(path, { signal })
  const decoded = await decodeMedia(path, `${path}.pcm`, { signal, maxSeconds: 60 })
  for (const { duration } of [probed, decoded]) {
    assert.ok(Math.abs(duration - 8.1) < 0.2, `${duration}`)
  }
})
