import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import {
  decode,
  fixture,
  lateness,
  temporaryFolder,
} from '../../test/support/audio/decode-fixture.ts'
import { decodeMedia } from './decode-media.ts'
import { decodeShortFile } from './decoder/decoder-pool.ts'
import { findConfinement } from './decoder/sandbox/decoder-sandbox.ts'
import { SAMPLE_RATE } from './pcm.ts'
import { probeMedia } from './probe-media.ts'

const { signal } = new AbortController()

/** Decodes in a process that has read other files, which takes a tenth of the time. */
async function decodeShort(name: string) {
  const options = { nameHint: name, maxSeconds: 60, account: 'one', signal }
  const { samples, channels } = (await decodeShortFile(fixture(name), options))!.decoded!
  const bytes = Uint8Array.from(Buffer.from(channels[0]!.pcm, 'base64'))
  return { duration: samples / SAMPLE_RATE, channel: new Int16Array(bytes.buffer, 0, samples) }
}

test('probeMedia describes a recording without decoding it', async () => {
  const described = await probeMedia(fixture('same-channels.mp3'), { signal })
  assert.ok(Math.abs(described.duration - 4) < 0.05)
  assert.deepEqual(
    { ...described, duration: 4 },
    {
      extension: 'mp3',
      duration: 4,
      channels: 2,
      sampleRate: 44_100,
      codec: 'mp3',
    },
  )
})

test('media paths may be relative and symbolic links', async (t) => {
  const folder = temporaryFolder(t)
  const link = join(folder, 'link to.flac')
  symlinkSync(fixture('jfk.flac'), link)
  const near = (path: string) => relative(process.cwd(), path)
  const { duration } = await probeMedia(near(link), { signal })
  assert.ok(duration > 10)
  const target = near(join(folder, 'decoded'))
  const { channels } = await decodeMedia(near(link), target, { signal, maxSeconds: 60 })
  assert.ok(existsSync(channels[0]!.path))
})

test('a recording without a declared length is measured', async () => {
  for (const [name, extension] of [
    ['irregular/recorder.webm', 'webm'],
    ['encodings/speech.aac', 'aac'],
    ['irregular/no-tag.mp3', 'mp3'],
  ]) {
    const described = await probeMedia(fixture(name!), { signal })
    assert.equal(described.extension, extension)
    assert.ok(Math.abs(described.duration - 4) < 0.08, `${name}: ${described.duration}`)
  }
})

test('every format decodes to the same audio at the same time', async (t) => {
  const { channels } = await decode(t, 'speech.wav')
  const reference = channels[0]!
  for (const name of [
    ...['jfk.flac', 'encodings/adpcm.wav', 'encodings/mulaw.wav', 'irregular/recorder.webm'],
    ...['irregular/cover.mp3', 'irregular/no-tag.mp3', 'same-channels.mp3', 'two-tracks.mkv'],
    ...[
      'films/film.3gp',
      'films/film.avi',
      'films/film.flv',
      'films/film.mkv',
      'films/film.mov',
      'films/film.mxf',
      'films/film.wmv',
      'films/vorbis.avi',
    ],
    ...['films/film.m2t', 'films/film.m2ts', 'films/film.mpg'],
    ...[
      'aac',
      'ac3',
      'aiff',
      'al',
      'eac3',
      'g722',
      'gsm',
      'latm',
      'm4a',
      'mlp',
      'mp2',
      'ogg',
      'opus',
    ].map((extension) => `encodings/speech.${extension}`),
    ...['dts', 'rm', 'sph', 'thd', 'tta', 'voc', 'w64', 'wma', 'wv'].map(
      (extension) => `encodings/speech.${extension}`,
    ),
  ]) {
    const decoded = await decodeShort(name)
    const latenessMs = lateness(decoded.channel, reference)
    assert.ok(Math.abs(latenessMs) <= 5, `${name} is ${latenessMs} ms late`)
    const seconds = name === 'jfk.flac' ? 11 : 4
    assert.ok(Math.abs(decoded.duration - seconds) < 0.1, `${name} lasts ${decoded.duration} s`)
  }
})

test('an exact length declared by the container is kept to the sample', async (t) => {
  for (const name of [
    'encodings/speech.m4a',
    'encodings/speech.mov',
    'encodings/speech.mp4',
    'encodings/speech.opus',
    'encodings/speech.wma',
    'films/film.wmv',
    'films/film.mov',
    'irregular/damaged.m4a',
  ]) {
    const { duration } = await decode(t, name)
    assert.ok(Math.abs(duration - 4) < 0.001, `${name} lasts ${duration} s`)
  }
})

test('16-bit audio at 16 kHz is stored unchanged', async (t) => {
  const { channels, duration } = await decode(t, 'speech.wav')
  const bytes = readFileSync(fixture('speech.wav')).subarray(44)
  assert.deepEqual(Buffer.from(channels[0]!.buffer, channels[0]!.byteOffset, bytes.length), bytes)
  assert.equal(duration, 4)
})

test('channels are separated, and duplicates detected even after a lossy codec', async (t) => {
  const two = await decode(t, 'two-channels.wav')
  assert.deepEqual(two.sameAs, [null, null])
  const reference = (await decode(t, 'speech.wav')).channels[0]!
  assert.deepEqual(two.channels[0], reference)
  assert.notDeepEqual(two.channels[1], reference)
  assert.deepEqual((await decode(t, 'same-channels.mp3')).sameAs, [null, 0])
})

test('damage in the middle affects only its part and shifts no later audio', async (t) => {
  const whole = (await decode(t, 'encodings/speech.m4a')).channels[0]!
  const damaged = await decode(t, 'irregular/damaged.m4a')
  assert.ok(Math.abs(damaged.duration - 4) < 0.03, `${damaged.duration}`)
  assert.equal(lateness(damaged.channels[0]!.subarray(32_000), whole.subarray(32_000)), 0)
})

test('an mp4 without its index is rejected with a readable message', async (t) => {
  const path = join(temporaryFolder(t), 'cut.mp4')
  writeFileSync(path, readFileSync(fixture('films/late-sound.mp4')).subarray(0, 2000))
  await assert.rejects(decode(t, path), {
    message: 'Cannot decode the media: the file is damaged, or cut off before its end',
  })
})

test('a truncated file yields the audio it contains', async (t) => {
  const path = join(temporaryFolder(t), 'cut')
  writeFileSync(path, readFileSync(fixture('same-channels.mp3')).subarray(0, 16_000))
  const { duration } = await decode(t, path)
  assert.ok(duration > 1.8 && duration < 2, `${duration}`)
})

test('of an MPEG stream whose beginning is missing, the rest is decoded', async (t) => {
  for (const name of ['film.m2t', 'film.m2ts', 'film.mpg']) {
    const path = join(temporaryFolder(t), name)
    const film = readFileSync(fixture(`films/${name}`))
    writeFileSync(path, film.subarray(Math.round(film.length / 3) + 50))
    const { duration } = await decode(t, path)
    assert.ok(duration > 1.5 && duration < 3.5, `${name} lasts ${duration} s`)
  }
})

test('the declared length is reported, even where the end is missing', async (t) => {
  const folder = temporaryFolder(t)
  for (const [name, seconds] of [
    ['speech.wav', 4],
    ['jfk.flac', 11],
  ] as const) {
    const bytes = readFileSync(fixture(name))
    const path = join(folder, name)
    writeFileSync(path, bytes.subarray(0, bytes.length / 2))
    const media = await decodeMedia(path, join(folder, `${name}.pcm`), { signal, maxSeconds: 60 })
    assert.ok(media.duration < 0.7 * seconds, `${name}: ${media.duration}`)
    assert.ok(Math.abs(media.statedSeconds! - seconds) < 0.1, `${name}: ${media.statedSeconds}`)
    const short = await decodeShortFile(path, {
      nameHint: name,
      account: name,
      maxSeconds: 60,
      signal,
    })
    assert.equal(short?.decoded?.declaredSeconds, media.statedSeconds)
  }
})

test('audio after the declared length of a WAV file is reported, not read', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'joined.wav')
  writeFileSync(path, Buffer.concat([1, 2].map(() => readFileSync(fixture('speech.wav')))))
  const media = await decodeMedia(path, join(folder, 'pcm'), { signal, maxSeconds: 60 })
  assert.ok(Math.abs(media.duration - 4) < 0.1 && Math.abs(media.unreadSeconds! - 4) < 0.1)
  const request = { nameHint: path, account: 'joined', maxSeconds: 60, signal }
  const short = await decodeShortFile(path, request)
  assert.equal(short?.decoded?.unreadSeconds, media.unreadSeconds)
})

test('a WAV file behind ID3 tags has the audio of the file without them', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'tagged.wav')
  const header = Buffer.from('ID3\x04\0\0\0\x00\x10\x00', 'latin1')
  const tag = Buffer.concat([header, Buffer.alloc(2048)])
  for (const name of ['speech.wav', 'encodings/adpcm.wav']) {
    writeFileSync(path, Buffer.concat([tag, tag, readFileSync(fixture(name))]))
    const [tagged, plain] = [await decode(t, path), await decode(t, name)]
    assert.deepEqual([tagged.channels, tagged.duration], [plain.channels, plain.duration], name)
    assert.equal(tagged.unreadSeconds, plain.unreadSeconds)
    const described = await probeMedia(path, { signal })
    assert.deepEqual(described, await probeMedia(fixture(name), { signal }))
  }
})

test('files without audio are rejected with the matching error code', async (t) => {
  const folder = temporaryFolder(t)
  const write = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const adts = readFileSync(fixture('encodings/speech.aac'))
  const cases: [string, string][] = [
    [fixture('films/silent-film.mp4'), 'media_without_audio'],
    [fixture('irregular/no-index.m4a'), 'media_undecodable'],
    [write('empty.mp3', ''), 'media_undecodable'],
    [
      write('list.mp3', `#EXTM3U\n#EXTINF:4,\nfile://${fixture('speech.wav')}\n`),
      'media_unsupported',
    ],
    [write('header.aac', adts.subarray(0, 9)), 'media_undecodable'],
    [write('long.flac', absurdFlac()), 'media_unsupported'],
    [join(folder, 'gone.wav'), 'storage_unreadable'],
    [folder, 'storage_unreadable'],
  ]
  for (const [path, code] of cases) {
    await assert.rejects(decode(t, path), { code }, path)
    await assert.rejects(probeMedia(path, { signal }), { code }, path)
  }
})

/** The fixture's start, its header changed to declare 2^36 - 1 samples: fifty days. */
function absurdFlac(): Buffer {
  const bytes = Buffer.from(readFileSync(fixture('jfk.flac')).subarray(0, 20_000))
  bytes[21] = bytes[21]! | 0x0f
  bytes.fill(0xff, 22, 26)
  return bytes
}

test('the duration limit is checked before and during decoding', async (t) => {
  const folder = temporaryFolder(t)
  const limits = { signal, maxSeconds: 3 }
  await assert.rejects(decodeMedia(fixture('jfk.flac'), folder, limits), {
    code: 'media_too_long',
    message: /11 s; the limit is 3 s/,
  })
  const understated = Buffer.from(readFileSync(fixture('jfk.flac')))
  understated.writeUInt32BE(16_000, 22) // declares one second
  const path = join(folder, 'understated')
  writeFileSync(path, understated)
  await assert.rejects(decodeMedia(path, folder, limits), { code: 'media_too_long' })
  assert.equal(existsSync(join(folder, 'ch0.pcm')), false)
})

test('a full disk is reported as storage_full and leaves no files', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => {
    spawnSync('umount', [folder])
    rmSync(folder, { recursive: true })
  })
  const mount = ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', folder]
  const isMounted = spawnSync('mount', mount).status === 0
  // An isolated decoder does not see this device.
  if (!isMounted && findConfinement() === 'isolated') return t.skip('needs the right to mount')
  if (!isMounted) symlinkSync('/dev/full', join(folder, 'ch0.pcm'))
  const options = { signal, maxSeconds: 60 }
  await assert.rejects(decodeMedia(fixture('speech.wav'), folder, options), {
    code: 'storage_full',
  })
  assert.equal(existsSync(join(folder, 'ch0.pcm')), false)
})

test('decoding progress increases to 1', async (t) => {
  const seen: number[] = []
  await decode(t, 'jfk.flac', { onProgress: (fraction) => seen.push(fraction) })
  assert.equal(seen.at(-1), 1)
  assert.deepEqual(
    seen,
    seen.toSorted((a, b) => a - b),
  )
  assert.ok(seen.every((fraction) => fraction >= 0 && fraction <= 1))
})
