import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  decode,
  fixture,
  lateness,
  temporaryFolder,
} from '../../../test/support/audio/decode-fixture.ts'
import { decodeShortFile } from '../decoder/decoder-pool.ts'
import { probeMedia } from '../probe-media.ts'

const { signal } = new AbortController()

test('the audio of a film starts at its declared time', async (t) => {
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  for (const name of ['films/late-sound.mp4', 'films/late-sound.mkv']) {
    const film = await decode(t, name)
    const latenessMs = lateness(film.channels[0]!, reference)
    assert.ok(Math.abs(latenessMs - 500) <= 5, `${name}: ${latenessMs} ms`)
    assert.ok(Math.abs(film.duration - 4.5) < 0.08, `${name}: ${film.duration} s`)
    const { duration } = await probeMedia(fixture(name), { signal })
    assert.ok(Math.abs(duration - 4.5) < 0.08, `${name}: ${duration} s`)
  }
})

test('a film states the length of its sound, not of its picture, unless it is cut off', async (t) => {
  const whole = await decode(t, 'films/late-sound.mkv')
  assert.ok(Math.abs(whole.statedSeconds! - 4.5) < 0.08, `${whole.statedSeconds} s`)
  const path = join(temporaryFolder(t), 'cut.mkv')
  writeFileSync(path, readFileSync(fixture('films/late-sound.mkv')).subarray(0, 12_000))
  const cut = await decode(t, path)
  assert.ok(cut.duration < 3, `${cut.duration} s`)
  assert.ok(Math.abs(cut.statedSeconds! - 6) < 0.08, `${cut.statedSeconds} s`)
})

test('the fonts of a film take no memory', async (t) => {
  const film = readFileSync(fixture('films/film.mkv'))
  const start = film.indexOf('18538067', 'hex') + 12 // the first element of the segment
  const element = (id: string, size: number, content: Buffer[] = []) => {
    const length = Buffer.alloc(8)
    length.writeBigUInt64BE(2n ** 56n + BigInt(size))
    return Buffer.concat([Buffer.from(id, 'hex'), length, ...content])
  }
  const text = (id: string, value: string) => element(id, value.length, [Buffer.from(value)])
  const bytes = 150e6
  const header = Buffer.concat([
    text('466e', 'a.ttf'),
    text('4660', 'font/ttf'),
    element('46ae', 1, [Buffer.of(1)]),
    element('465c', bytes),
  ])
  const attached = element('61a7', header.length + bytes, [header])
  const path = join(temporaryFolder(t), 'fonts.mkv')
  const attachments = element('1941a469', attached.length + bytes, [attached])
  writeFileSync(path, Buffer.concat([film.subarray(0, start), attachments]))
  const file = openSync(path, 'r+')
  // A hole of the file stands for the font: it takes no space.
  writeSync(file, film.subarray(start), 0, null, start + attachments.length + bytes)
  closeSync(file)
  const { duration } = await decode(t, path)
  assert.ok(Math.abs(duration - 4) < 0.08, `${duration}`)
})

test('tracks of one channel are the channels of the recording, each at its own time', async (t) => {
  const file = 'films/camera.mov'
  const { channels, duration, unreadTracks } = await decode(t, file)
  const [first, second] = (await decode(t, 'two-channels.wav')).channels
  assert.equal(channels.length, 2)
  assert.equal(lateness(channels[0]!, first!), 0)
  assert.equal(lateness(channels[1]!, second!), 500)
  assert.ok(Math.abs(duration - 4.5) < 0.01, `${duration} s`)
  assert.ok(channels[0]!.subarray(64_000).every((sample) => sample === 0))
  assert.equal(unreadTracks, 1)
  const described = await probeMedia(fixture(file), { signal })
  assert.deepEqual([described.channels, described.duration], [2, duration])
  const request = { nameHint: file, account: 'camera', maxSeconds: 60, signal }
  const short = await decodeShortFile(fixture(file), request)
  assert.equal(short?.decoded?.unreadTracks, 1)
})

test('sixteen channels of one track are separated', async (t) => {
  // A Sun audio file of a second: 16-bit samples at 16 kHz, a constant level in each channel.
  const header = Buffer.alloc(24)
  header.write('.snd')
  for (const [i, field] of [24, 16_000 * 32, 3, 16_000, 16].entries()) {
    header.writeUInt32BE(field, 4 + 4 * i)
  }
  const samples = Buffer.alloc(16_000 * 32)
  for (let i = 0; i < 16_000 * 16; i++) samples.writeInt16BE(1000 * (1 + (i % 16)), 2 * i)
  const path = join(temporaryFolder(t), 'recorder.au')
  writeFileSync(path, Buffer.concat([header, samples]))
  const { channels } = await decode(t, path)
  assert.equal(channels.length, 16)
  for (const [i, channel] of channels.entries()) {
    assert.equal(channel.length, 16_000)
    assert.ok(channel.every((sample) => sample === 1000 * (1 + i)))
  }
})

test('a pause of the recorder becomes silence', async (t) => {
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  const { channels, duration } = await decode(t, 'irregular/pause.webm')
  assert.ok(Math.abs(duration - 4) < 0.02, `${duration}`)
  assert.ok(channels[0]!.subarray(16_640, 31_360).every((sample) => sample === 0))
  const latenessMs = lateness(channels[0]!.subarray(32_000), reference.subarray(32_000))
  assert.ok(Math.abs(latenessMs) <= 5, `${latenessMs} ms late`)
})

test('joined MPEG streams have no silence of hours where the clock jumps', async (t) => {
  const { channels, duration } = await decode(t, 'irregular/jump.m2t')
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  assert.ok(Math.abs(duration - 4) < 0.2, `${duration}`)
  assert.ok(Math.abs(lateness(channels[0]!.subarray(32_000), reference.subarray(32_000))) < 100)
})

test('a stream may change its sample rate and channels', async (t) => {
  const { channels, duration } = await decode(t, 'irregular/changing.aac')
  assert.equal(channels.length, 2)
  assert.ok(Math.abs(duration - 4.1) < 0.1, `${duration}`)
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  assert.ok(Math.abs(lateness(channels[0]!, reference)) < 100)
})

test('a chained Ogg file may change its sample rate and channels between links', async (t) => {
  const { channels, duration } = await decode(t, 'irregular/changing.ogg')
  assert.equal(channels.length, 1)
  assert.ok(Math.abs(duration - 4) < 0.001, `${duration}`)
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  const ends = [channels[0]!, reference].map((channel) => channel.subarray(28_000))
  assert.ok(Math.abs(lateness(channels[0]!, reference)) <= 5)
  assert.ok(Math.abs(lateness(ends[0]!, ends[1]!)) <= 5)
})

test('the length of a chained Ogg is that of all its links, also of one format', async (t) => {
  const path = join(temporaryFolder(t), 'chain.ogg')
  const links = ['encodings/speech.opus', 'spanish.ogg'].map((name) => readFileSync(fixture(name)))
  writeFileSync(path, Buffer.concat(links))
  const { duration } = await probeMedia(path, { signal })
  assert.ok(Math.abs(duration - 12.6) < 0.1, `${duration}`)
})

test('joined FLAC files are all read', async (t) => {
  const path = join(temporaryFolder(t), 'joined.flac')
  const single = readFileSync(fixture('jfk.flac'))
  writeFileSync(path, Buffer.concat([single, single]))
  const { channels, duration } = await decode(t, path)
  assert.equal(duration, 22)
  assert.deepEqual(
    channels[0]!.subarray(channels[0]!.length / 2),
    (await decode(t, 'jfk.flac')).channels[0],
  )
})

test('the length is that of the track that is decoded, not of the first', async () => {
  const { duration } = await probeMedia(fixture('irregular/second-track.m4a'), { signal })
  assert.ok(Math.abs(duration - 4) < 0.1, `${duration}`)
})

test('audio that starts late in Matroska has its own length', async () => {
  const { duration } = await probeMedia(fixture('irregular/late-start.mka'), { signal })
  assert.ok(Math.abs(duration - 4) < 0.1, `${duration}`)
})

test('an Ogg chain that ends in the headers of a link yields the links before it', async (t) => {
  const path = join(temporaryFolder(t), 'cut.ogg')
  const bytes = readFileSync(fixture('irregular/changing.ogg'))
  writeFileSync(path, bytes.subarray(0, bytes.lastIndexOf('\x01vorbis') + 100))
  assert.ok(Math.abs((await decode(t, path)).duration - 2) < 0.001)
})

test('a chunk that claims to be longer than any file ends the audio before it', async (t) => {
  const path = join(temporaryFolder(t), 'damaged.w64')
  const chunk = Buffer.alloc(24, 'junk')
  chunk.writeBigUInt64LE(2n ** 62n, 16)
  writeFileSync(path, Buffer.concat([readFileSync(fixture('encodings/speech.w64')), chunk]))
  assert.equal((await decode(t, path)).duration, 4)
})
