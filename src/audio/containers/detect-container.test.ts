import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../errors.ts'
import { bytesSource } from './byte-source.ts'
import { detectContainer } from './detect-container.ts'

function detect(content: string | Uint8Array, name?: string) {
  const bytes =
    typeof content === 'string' ? Buffer.from(content.padEnd(64, '\0'), 'latin1') : content
  return detectContainer(bytesSource(bytes), name)
}

const fixture = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))

test('a container is detected by its first bytes, regardless of the file name', () => {
  const cases: [string, extension: string][] = [
    ['RIFF\0\0\0\0WAVEfmt ', 'wav'],
    ['RF64\xff\xff\xff\xffWAVEds64', 'wav'],
    ['RIFX\0\0\0\0WAVEfmt ', 'wav'],
    ['RIFF\0\0\0\0AVI LIST', 'avi'],
    ['fLaC', 'flac'],
    ['OggS\0\x02vorbis', 'ogg'],
    [`OggS${'\0'.repeat(24)}OpusHead`, 'opus'],
    ['FLV\x01', 'flv'],
    ['0&\xb2u\x8ef\xcf\x11\xa6\xd9', 'wma'],
    ['FORM\0\0\0\0AIFF', 'aiff'],
    ['FORM\0\0\0\0AIFC', 'aiff'],
    ['.snd', 'au'],
    ['caff\0\x01', 'caf'],
    ['riff\x2e\x91\xcf\x11\xa5\xd6', 'w64'],
    ['wvpk', 'wv'],
    ['TTA1\x01\0', 'tta'],
    ['\x02dss', 'dss'],
    ['\x03dss', 'dss'],
    ['Creative Voice File\x1a\x1a\0', 'voc'],
    ['NIST_1A\n   1024\n', 'sph'],
    ['\x7f\xfe\x80\x01\xfc', 'dts'],
    ['\xfe\x7f\x01\x80', 'dts'],
    ['\x1f\xff\xe8\0', 'dts'],
    ['\xff\x1f\0\xe8', 'dts'],
    ['\xa0\x23\xff\xd8\xf8ro\xba', 'thd'],
    ['\x80\x1f\xff\xd8\xf8ro\xbb', 'mlp'],
    ['\x1f\x07\0\x3f', 'dv'],
    ['\x1f\x07\0\xbf', 'dv'],
    ['.RMF\0\0\0\x12', 'rm'],
    ['.ra\xfd\0\x03', 'ra'],
    ['\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02\x04', 'mxf'],
    ['#!AMR\n', 'amr'],
    ['#!AMR-WB\n', 'amr'],
    ['\0\0\0\x20ftypM4A ', 'm4a'],
    ['\0\0\0\x20ftypM4V ', 'm4v'],
    ['\0\0\0\x20ftypisom', 'mp4'],
    ['\0\0\0\x20ftypqt  ', 'mov'],
    ['\0\0\0\x20ftyp3gp5', '3gp'],
    ['\0\0\0\x20ftyp3g2a', '3g2'],
    ['\0\0\0\x08wide\0\0\0\0mdat', 'mov'],
    ['\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'webm'],
    ['\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska', 'mkv'],
  ]
  for (const [bytes, extension] of cases) {
    assert.equal(detect(bytes, 'wrong.txt').extension, extension)
  }
})

test('the detected demuxer is passed to libav', () => {
  assert.deepEqual(detect(fixture('encodings/speech.m4a')), {
    reader: 'libav',
    extension: 'm4a',
    demuxer: 'mov',
  })
  assert.deepEqual(detect(fixture('irregular/recorder.webm')), {
    reader: 'libav',
    extension: 'webm',
    demuxer: 'matroska',
  })
  assert.deepEqual(detect(fixture('encodings/mulaw.wav')), { reader: 'wav', extension: 'wav' })
})

test('MPEG streams are detected by their packets, under any name', () => {
  for (const [name, extension] of [
    ['films/film.m2t', 'ts'],
    ['films/film.m2ts', 'm2ts'],
    ['films/film.mpg', 'mpg'],
  ] as const) {
    assert.equal(detect(fixture(name), 'wrong.txt').extension, extension)
    // A part of a recording begins anywhere.
    for (const start of [1, 97, 190]) {
      assert.equal(detect(fixture(name).subarray(start), 'wrong.txt').extension, extension)
    }
  }
  const once = Buffer.concat([fixture('films/film.m2t').subarray(0, 188), Buffer.alloc(2000)])
  assert.throws(() => detect(once, 'a.mp3'), { code: 'media_unsupported' })
})

test('raw streams are detected after tags, pictures and stray bytes', () => {
  const mp3 = fixture('irregular/no-tag.mp3')
  const tag = Buffer.concat([
    Buffer.from('ID3\x04\0\0\0\x00\x10\x00', 'latin1'),
    Buffer.alloc(2048),
  ])
  assert.equal(detect(mp3).extension, 'mp3')
  assert.equal(detect(Buffer.concat([tag, mp3])).extension, 'mp3')
  assert.equal(detect(Buffer.concat([tag, tag, fixture('encodings/speech.aac')])).extension, 'aac')
  assert.equal(detect(Buffer.concat([tag, fixture('jfk.flac')])).extension, 'flac')
  assert.equal(detect(Buffer.concat([Buffer.alloc(3000), mp3])).extension, 'mp3')
  assert.equal(detect(tag).extension, 'mp3')
})

test('the file name decides only between encodings without a header', () => {
  const gsm = fixture('encodings/speech.gsm')
  const noise = Uint8Array.from({ length: 1000 }, (_, i) => (i * i * 7) >> 3)
  assert.equal(detect(gsm, 'call.GSM').extension, 'gsm')
  assert.equal(detect(noise, 'a.b/call.g722').extension, 'g722')
  for (const name of ['call.ulaw', 'call.ul']) {
    assert.deepEqual(detect(noise, name), {
      reader: 'raw',
      extension: name.slice(5),
      encoding: 'mulaw',
    })
  }
  for (const name of ['call.alaw', 'call.al']) {
    assert.deepEqual(detect(noise, name), {
      reader: 'raw',
      extension: name.slice(5),
      encoding: 'alaw',
    })
  }
  for (const [bytes, name] of [
    [noise, 'call.gsm'],
    [noise, 'call.pcm'],
    [noise, 'call.mp3'],
    [noise, 'ulaw'],
    [gsm, undefined],
  ] as const) {
    assert.throws(() => detect(bytes, name), { code: 'media_unsupported' })
  }
})

test('playlists, documents and other non-audio are rejected under any name', () => {
  const refused = [
    '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n',
    "ffconcat version 1.0\nfile '/etc/passwd'\n",
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011">',
    '<!doctype html><title>No such file</title>',
    '{"error":"not found"}',
    '[playlist]\nFile1=http://localhost/\n',
    '\x89PNG\r\n\x1a\n',
    '\xff\xd8\xff\xe0\0\x10JFIF',
    'GIF89a',
    '%PDF-1.7',
    'PK\x03\x04',
    '\0\0\0\x20ftypheic',
    '\0\0\0\x20ftypavif',
    '\x1aE\xdf\xa3\x9fB\x82\x84evil',
    '\0\0\x01\xba',
    'RIFF\0\0\0\0WEBPVP8 ',
  ]
  for (const content of refused) {
    for (const name of ['a.mp3', 'a.wav', 'a.ulaw', 'a.g722', 'a.gsm', 'a.m3u8', undefined]) {
      assert.throws(() => detect(Buffer.from(content, 'latin1'), name), {
        code: 'media_unsupported',
      })
    }
  }
})

test('a web page in place of a recording is rejected as such', () => {
  const message =
    'Cannot read the media: the file is a web page: it may be the page of a sign-in or of a shared link; send the recording itself'
  for (const page of ['<!DOCTYPE html><html>', '\n <html lang="en">']) {
    assert.throws(() => detect(page, 'a.mp3'), { code: 'media_unsupported', message })
  }
})

test('an archive is rejected by its name, also with a recording in it', () => {
  const mp3 = fixture('irregular/no-tag.mp3')
  for (const [start, kind] of [
    ['PK\x03\x04', 'ZIP'],
    ['\x1f\x8b', 'gzip'],
    ['Rar!\x1a\x07', 'RAR'],
    ['7z\xbc\xaf\x27\x1c', '7z'],
  ] as const) {
    const archive = Buffer.concat([Buffer.from(start, 'latin1'), mp3])
    const message = `Cannot read the media: the file is a ${kind} archive: unpack it, and send the recording in it`
    assert.throws(() => detect(archive, 'a.mp3'), { code: 'media_unsupported', message })
  }
})

test('an empty file is rejected as undecodable', () => {
  assert.throws(() => detect(new Uint8Array(0)), { code: 'media_undecodable' })
})

test('detection of any bytes returns a format or rejects them', () => {
  const starts = [
    '',
    'ID3\x04\0\0',
    'RIFF',
    '\0\0\0\x20ftyp',
    '\x1aE\xdf\xa3',
    'OggS',
    '\xff\xfb',
    '\x0bw',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 600 }), (start, rest) => {
      try {
        assert.ok(detect(Buffer.concat([Buffer.from(start, 'latin1'), rest])).extension)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
      }
    }),
  )
})
