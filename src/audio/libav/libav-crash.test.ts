import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { fixture } from '../../../test/support/audio/decode-fixture.ts'
import { bytesSource } from '../containers/byte-source.ts'
import { findOggLinks } from '../containers/links/ogg-links.ts'
import { type LibavAudio, openLibavAudio } from './libav-audio.ts'
import { MediaInput } from './media-input.ts'

const crash = ({ libav }: MediaInput) => libav.calls.input_tracks(0x7fff_fff0)

function open(name: string, demuxer: string) {
  const bytes = readFileSync(fixture(name))
  const links = demuxer === 'ogg' ? findOggLinks(bytesSource(bytes)) : []
  const limits = { bytes: bytes.length, maxSeconds: undefined, heartbeat: async () => {} }
  return openLibavAudio(fixture(name), { demuxer, extension: demuxer, links, ...limits })
}

/** Decodes the audio; libav crashes when it has read the packet at this position. */
async function decodeWithCrash(t: TestContext, { blocks, close }: LibavAudio, at: number) {
  const { packets } = MediaInput.prototype
  let count = 0
  t.mock.method(MediaInput.prototype, 'packets', async function* (this: MediaInput, ...args: []) {
    for await (const packet of packets.apply(this, args as never)) {
      if (count++ === at) crash(this)
      yield packet
    }
  })
  const channels: number[][] = []
  for await (const planes of blocks) {
    for (const [i, plane] of planes.entries()) {
      channels[i] ??= []
      channels[i].push(...plane)
    }
  }
  close()
  return channels
}

test('what was decoded before a crash of libav is kept', async (t) => {
  const audio = await open('encodings/speech.m4a', 'mov')
  const [channel] = await decodeWithCrash(t, audio, 100)
  assert.equal(audio.info.duration, 4)
  assert.ok(channel!.length > 2 * 16_000 && channel!.length < 3 * 16_000, `${channel!.length}`)
})

test('a crash of libav in one link of a chain harms no other', async (t) => {
  const [whole] = await decodeWithCrash(t, await open('irregular/changing.ogg', 'ogg'), -1)
  const [channel] = await decodeWithCrash(t, await open('irregular/changing.ogg', 'ogg'), 1)
  assert.deepEqual(channel!.slice(-16_000), whole!.slice(-16_000))
  assert.ok(channel!.length < 3 * 16_000)
})

test('a crash of libav in one of several tracks keeps what all have', async (t) => {
  const audio = await open('films/camera.mov', 'mov')
  const channels = await decodeWithCrash(t, audio, 30)
  assert.equal(channels.length, 2)
  assert.ok(channels[0]!.length > 16_000, `${channels[0]!.length}`)
})

test('a track whose header crashes libav is left out', async (t) => {
  const { keepTracks } = MediaInput.prototype
  t.mock.method(MediaInput.prototype, 'keepTracks', function (this: MediaInput, indexes: number[]) {
    keepTracks.call(this, indexes)
    if (indexes.length === 1 && indexes[0] === 2) crash(this)
  })
  const { info, unreadTracks, close } = await open('films/camera.mov', 'mov')
  close()
  assert.deepEqual([info.channels, unreadTracks], [1, 2])
})
