import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { decodeMedia } from '../../../src/audio/decode-media.ts'
import { probeMedia } from '../../../src/audio/probe-media.ts'
import { AppError } from '../../../src/errors.ts'
import {
  adts,
  amr,
  crumbs,
  flv,
  id3,
  matroska,
  mp4,
  ogg,
} from '../../support/audio/hostile-media.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { tryUpload } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer } from '../../support/server/start-server.ts'

const { signal } = new AbortController()

async function write(t: TestContext, content: Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-hostile-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'recording')
  await writeFile(file, content)
  return file
}

/** How probing and decoding end: the code of each, or `taken`. */
async function outcomes(t: TestContext, content: Uint8Array): Promise<string[]> {
  const file = await write(t, content)
  const limits = { signal, maxSeconds: 60 }
  const all = await Promise.allSettled([
    probeMedia(file, limits),
    decodeMedia(file, join(file, '..'), limits),
  ])
  return all.map((end) => {
    if (end.status === 'fulfilled') return 'taken'
    assert.ok(end.reason instanceof AppError, String(end.reason))
    assert.ok(end.reason.status < 500, end.reason.message)
    return end.reason.code
  })
}

test('a small file that demands much memory or time is rejected', async (t) => {
  const refused = ['media_unsupported', 'media_unsupported']
  const undecodable = ['media_undecodable', 'media_undecodable']
  const tooLong = ['media_too_long', 'media_too_long']
  const huge = { samples: 85_000_000 }
  for (const [name, content, expected] of [
    ['samples of one size', mp4([huge, huge, huge]), refused],
    ['a compressed index', mp4([huge], { packed: true }), refused],
    ['tracks of an MP4', mp4(Array(2000).fill({ samples: 1 })), refused],
    ['tracks of a Matroska file', matroska({ tracks: 3000, blocks: 1 }), refused],
    ['blocks that inflate', matroska({ tracks: 1, blocks: 300 }), undecodable],
    ['empty AAC frames', adts(20_000), undecodable],
    ['frames of one byte', amr(1_000_000), tooLong],
    ['a sample per packet', crumbs(150_000), refused],
    ['a tag that inflates', id3(), undecodable],
    ['a comment without end', ogg(300), undecodable],
    ['tags without time', flv(200_000), ['taken', 'media_undecodable']],
  ] as const) {
    assert.deepEqual(await outcomes(t, content), expected, name)
  }
})

test('files that refer to other files are rejected', async (t) => {
  const target = new URL('../../fixtures/speech.wav', import.meta.url).pathname
  for (const content of [
    `#EXTM3U\n#EXTINF:4,\nfile://${target}\n`,
    `ffconcat version 1.0\nfile '${target}'\n`,
    `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n`,
    `<?xml version="1.0"?><MPD><Period><BaseURL>file://${target}</BaseURL></Period></MPD>`,
    `[playlist]\nFile1=${target}\n`,
  ]) {
    assert.deepEqual(await outcomes(t, Buffer.from(content)), Array(2).fill('media_unsupported'))
  }
})

test('slow files of one account do not delay an upload of another', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  let ended = 0
  // Each takes the decoder longer than a healthy file.
  const slow = Array.from({ length: 6 }, () =>
    tryUpload(server, adts(100_000)).then(({ status }) => {
      ended++
      assert.equal(status, 415)
    }),
  )
  const other = { url: server.url, key: OTHER_KEY }
  const { status } = await tryUpload(other, Buffer.from(createToneWav(1)))
  assert.equal(status, 200)
  // With two cores one of them is looked into meanwhile; more where there are more.
  assert.ok(ended < slow.length - 2, `${ended} of ${slow.length} went before`)
  await Promise.all(slow)
})
