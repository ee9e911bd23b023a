import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decode, fixture, temporaryFolder } from '../../../../test/support/audio/decode-fixture.ts'
import { bytesSource } from '../byte-source.ts'
import { findUntagged } from './end-tag.ts'

const HAS_HEADER = 0x8000_0000

/** The header or footer of an APE tag with these bytes of content. */
function tagEdge(length: number, flags: number): Buffer {
  const edge = Buffer.alloc(32)
  edge.write('APETAGEX')
  for (const [i, field] of [2000, length + 32, 1, flags].entries()) {
    edge.writeUInt32LE(field, 8 + 4 * i)
  }
  return edge
}

const id3 = Buffer.alloc(128, 'TAG')
const content = Buffer.alloc(1e6, 'fffb9064', 'hex') // as the header of an MP3 frame
const footer = tagEdge(content.length, HAS_HEADER)
const tag = Buffer.concat([footer, content, footer])
const partsOf = (...bytes: Buffer[]) => findUntagged(bytesSource(Buffer.concat(bytes)))

test('an APE tag at the end, also before an ID3 tag, is no part of the audio', () => {
  const audio = Buffer.alloc(2000, 1)
  assert.deepEqual(partsOf(audio, tag), [{ start: 0, end: 2000 }])
  assert.deepEqual(partsOf(audio, tag, id3), [{ start: 0, end: 2000 }])
  const plain = [content, tagEdge(content.length, 0)]
  assert.deepEqual(partsOf(audio, ...plain), [{ start: 0, end: 2000 }])
  for (const others of [[audio], [audio, id3], [audio, tagEdge(5000, 0)], [tag], [id3], []]) {
    assert.deepEqual(partsOf(...others), [])
  }
})

test('an MP3 with a picture in its APE tag lasts as long as without it', async (t) => {
  const path = join(temporaryFolder(t), 'tagged.mp3')
  for (const name of ['same-channels.mp3', 'irregular/no-tag.mp3']) {
    writeFileSync(path, Buffer.concat([readFileSync(fixture(name)), tag, id3]))
    const [tagged, plain] = [await decode(t, path), await decode(t, name)]
    assert.equal(tagged.duration, plain.duration)
    assert.ok(Math.abs(tagged.statedSeconds! - plain.statedSeconds!) < 0.1)
  }
})
