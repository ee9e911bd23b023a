import { AppError } from '../../errors.ts'
import type { ByteSource } from './byte-source.ts'
import { type ElementaryStream, findStream, syncedStream } from './frame-sync.ts'

/** The container of a file, detected from its bytes, and the reader for it. */
export type Container =
  /** `start` is the length of the ID3 tags before the header, if there are any. */
  | { reader: 'wav'; extension: string; start?: number }
  /** Samples without a header, as in telephony: 8 kHz, one channel. */
  | { reader: 'raw'; extension: string; encoding: 'alaw' | 'mulaw' }
  /** `demuxer` is the one that libav must use; otherwise libav would guess, possibly a playlist. */
  | { reader: 'libav'; extension: string; demuxer: string }

/** The bytes in which the first frame is searched when a stream starts with other bytes. */
const HEAD_BYTES = 64 * 1024
/** Maximum number of consecutive tags at the start of a file. */
const MAX_TAGS = 8

/**
 * Returns the container, or throws `media_unsupported`. Accepts only known audio and video
 * containers, never playlists and concatenation scripts, which make a decoder open other files. The
 * name decides only among encodings that have no header at all.
 */
export function detectContainer(source: ByteSource, nameHint = ''): Container {
  if (source.size === 0) throw new AppError('media_undecodable', 'the file is empty')
  const head = source.read(0, HEAD_BYTES)
  const container =
    detectByMagic(head) ?? detectStream(source) ?? detectHeaderless(head, nameHint.toLowerCase())
  if (container) return container
  const [, archive] =
    archives.find(([magic]) => startsWith(latin1(head.subarray(0, 4)), magic)) ?? []
  if (archive) {
    const remedy = 'unpack it, and send the recording in it'
    throw new AppError('media_unsupported', `the file is a ${archive} archive: ${remedy}`)
  }
  if (/^\s*<(!doctype html|html)\b/i.test(latin1(head.subarray(0, 256)))) {
    const remedy = 'it may be the page of a sign-in or of a shared link; send the recording itself'
    throw new AppError('media_unsupported', `the file is a web page: ${remedy}`)
  }
  throw new AppError('media_unsupported', 'the file is not of a known audio or video container')
}

/**
 * Returns the extension of a media file that begins with these bytes, of which 256 suffice;
 * undefined for a WAV file, which holds samples, and for anything else.
 */
export function encodedExtension(head: Uint8Array): string | undefined {
  if (latin1(head.subarray(0, 3)) === 'ID3') return 'mp3'
  const container = detectByMagic(head)
  return container?.reader === 'wav' ? undefined : container?.extension
}

/**
 * The first bytes of formats, where `?` is any byte, with libav's demuxer and the extension, if
 * that differs.
 */
const magics: [magic: string, demuxer: string, extension?: string][] = [
  ['fLaC', 'flac'],
  ['RIFF????AVI ', 'avi'],
  ['RIFF????AVIX', 'avi'],
  ['FLV\x01', 'flv'],
  ['0&\xb2u\x8ef\xcf\x11', 'asf', 'wma'],
  ['FORM????AIFF', 'aiff'],
  ['FORM????AIFC', 'aiff'],
  ['.snd', 'au'],
  ['caff', 'caf'],
  ['#!AMR', 'amr'],
  ['riff\x2e\x91\xcf\x11', 'w64'],
  ['wvpk', 'wv'],
  ['TTA1', 'tta'],
  ['\x02dss', 'dss'],
  ['\x03dss', 'dss'],
  ['Creative Voice File\x1a', 'voc'],
  ['NIST_1A\n', 'nistsphere', 'sph'],
  // DTS in words of 16 or 14 bits, in both orders of bytes.
  ['\x7f\xfe\x80\x01', 'dts'],
  ['\xfe\x7f\x01\x80', 'dts'],
  ['\x1f\xff\xe8\x00', 'dts'],
  ['\xff\x1f\x00\xe8', 'dts'],
  // The first access unit of Dolby TrueHD and of its predecessor, Meridian Lossless Packing.
  ['????\xf8ro\xba', 'truehd', 'thd'],
  ['????\xf8ro\xbb', 'mlp'],
  // DV: the first block of a picture, of which the seventh bit may be set (IEC 61834-2).
  ['\x1f\x07\x00\x3f', 'dv'],
  ['\x1f\x07\x00\xbf', 'dv'],
  ['.RMF', 'rm'],
  ['.ra\xfd', 'rm', 'ra'],
  // MXF: the key of the header partition (SMPTE ST 377-1).
  ['\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02', 'mxf'],
]
const wavMagics = ['RIFF????WAVE', 'RIFX????WAVE', 'RF64????WAVE', 'BW64????WAVE']
const mp4Boxes = ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']

function detectByMagic(head: Uint8Array): Container | undefined {
  const text = latin1(head.subarray(0, 256))
  if (isWav(text)) return { reader: 'wav', extension: 'wav' }
  const knownMagic = magics.find(([magic]) => startsWith(text, magic))
  if (knownMagic) return libav(knownMagic[1], knownMagic[2])
  if (mp4Boxes.includes(text.slice(4, 8))) return detectMp4(text)
  if (text.startsWith('\x1aE\xdf\xa3')) return detectMatroska(text)
  if (text.startsWith('OggS')) return libav('ogg', text.includes('OpusHead') ? 'opus' : 'ogg')
  return detectMpeg(head)
}

function isWav(text: string): boolean {
  return wavMagics.some((magic) => startsWith(text, magic))
}

/** The start code of a pack in a program stream. */
const PACK_START = '\0\0\x01\xba'

/**
 * Detects MPEG transport and program streams, which camcorders and television receivers record. A
 * part of such a recording begins anywhere.
 */
function detectMpeg(head: Uint8Array): Container | undefined {
  if (hasPackets(head, 188)) return libav('mpegts', 'ts')
  // Each packet of 188 bytes follows a time stamp of four bytes.
  if (hasPackets(head, 192)) return libav('mpegts', 'm2ts')
  return hasPack(head) ? libav('mpeg', 'mpg') : undefined
}

/** Returns whether five packets of `size` bytes follow one another, the first one perhaps cut. */
function hasPackets(head: Uint8Array, size: number): boolean {
  const starts = head.subarray(0, size)
  return starts.some((_, at) => [0, 1, 2, 3, 4].every((n) => head[at + n * size] === 0x47))
}

/** Returns whether there is the header of a pack, which another start code follows. */
function hasPack(head: Uint8Array): boolean {
  const text = latin1(head)
  for (let at = text.indexOf(PACK_START); at >= 0; at = text.indexOf(PACK_START, at + 1)) {
    const marker = head[at + 4] ?? 0
    const stuffing = (head[at + 13] ?? 0) & 7
    // The bits after the start code are 01 in MPEG-2 and 0010 in MPEG-1 (ISO 13818-1, 2.5.3.3).
    const length = marker >> 6 === 1 ? 14 + stuffing : marker >> 4 === 2 ? 12 : undefined
    if (length && text.startsWith('\0\0\x01', at + length)) return true
  }
  return false
}

function libav(demuxer: string, extension = demuxer): Container {
  return { reader: 'libav', extension, demuxer }
}

/**
 * Detects the ISO family by its major brand; the same boxes also hold still pictures, which are not
 * media.
 */
function detectMp4(text: string): Container | undefined {
  const brand = text.slice(4, 8) === 'ftyp' ? text.slice(8, 12).toLowerCase() : 'qt  '
  if (/^(hei|hev|mif1|msf1|avi[fs]|jp2|jpm|jpx|crx)/.test(brand)) return undefined
  if (brand === 'qt  ') return libav('mov')
  const [knownBrand = 'mp4'] = /^(m4a|m4b|m4v|3gp|3g2)/.exec(brand) ?? []
  return libav('mov', knownBrand === 'm4b' ? 'm4a' : knownBrand)
}

/**
 * Detects Matroska and WebM: an EBML file states its type in the DocType element (id 0x4282),
 * within the first bytes.
 */
function detectMatroska(text: string): Container | undefined {
  const [, kind] = /B\x82[\s\S]{1,8}?(webm|matroska)/.exec(text) ?? []
  return kind ? libav('matroska', kind === 'webm' ? 'webm' : 'mkv') : undefined
}

/**
 * Detects elementary streams, and FLAC and WAV files that follow ID3 tags. Tags may hold pictures
 * of several megabytes.
 */
function detectStream(source: ByteSource): Container | undefined {
  const start = skipTags(source)
  const head = source.read(start, HEAD_BYTES)
  if (latin1(head.subarray(0, 4)) === 'fLaC') return libav('flac')
  if (isWav(latin1(head.subarray(0, 12)))) return { reader: 'wav', extension: 'wav', start }
  const stream = syncedStream(head, 0) ?? (isForeign(head) ? undefined : findStream(head))
  if (stream) return libav(streamDemuxers[stream], stream)
  return start > 0 ? libav('mp3') : undefined
}

const streamDemuxers: Record<ElementaryStream, string> = {
  mp3: 'mp3',
  mp2: 'mp3',
  aac: 'aac',
  ac3: 'ac3',
  eac3: 'eac3',
  latm: 'loas',
}

/**
 * Returns the length of the ID3 tags at the start. A tag has a header of ten bytes, of which the
 * last four are its length, seven bits each (ID3v2.4, section 3.1).
 */
function skipTags(source: ByteSource): number {
  let at = 0
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const header = source.read(at, 10)
    if (header.length < 10 || latin1(header.subarray(0, 3)) !== 'ID3') break
    const [a = 0, b = 0, c = 0, d = 0] = header.subarray(6)
    at += 10 + ((a & 127) << 21) + ((b & 127) << 14) + ((c & 127) << 7) + (d & 127)
  }
  return at
}

/**
 * Detects headerless encodings by the file name. Such a file may contain any bytes, so content that
 * is recognized as another format is rejected.
 */
function detectHeaderless(head: Uint8Array, name: string): Container | undefined {
  const [, extension = ''] = /\.(\w+)$/.exec(name) ?? []
  if (isForeign(head)) return undefined
  if (['ulaw', 'ul', 'mulaw'].includes(extension)) {
    return { reader: 'raw', extension, encoding: 'mulaw' }
  }
  if (['alaw', 'al'].includes(extension)) return { reader: 'raw', extension, encoding: 'alaw' }
  if (extension === 'g722') return libav('g722')
  return extension === 'gsm' && isGsm(head) ? libav('gsm') : undefined
}

/**
 * Returns whether every frame of 33 bytes starts with the four bits 1101 (RFC 3551, section 4.5.8).
 */
function isGsm(head: Uint8Array): boolean {
  for (let at = 0; at < head.length; at += 33) if (head[at]! >> 4 !== 0xd) return false
  return true
}

/** The first bytes of archives, which may hold recordings. */
const archives: [magic: string, name: string][] = [
  ['PK\x03\x04', 'ZIP'],
  ['\x1f\x8b', 'gzip'],
  ['Rar!', 'RAR'],
  ['7z\xbc\xaf', '7z'],
]

/**
 * The first bytes of pictures, documents, archives, programs, and of unsupported variants of the
 * formats above.
 */
const foreignMagics = [
  ...['\x89PNG', '\xff\xd8\xff', 'GIF8', '%PDF', '\x7fELF', 'MZ'],
  ...archives.map(([magic]) => magic),
  ...['\x00\x00\x01\xba', 'G@', 'RIFF', '????ftyp', '\x1aE\xdf\xa3'],
]

function isForeign(head: Uint8Array): boolean {
  const start = latin1(head.subarray(0, 8))
  return foreignMagics.some((magic) => startsWith(start, magic)) || isText(head.subarray(0, 512))
}

/**
 * Returns whether bytes are text: valid UTF-8 without control characters. Long samples never are.
 */
function isText(bytes: Uint8Array): boolean {
  // Decoded as a stream, so that a character that is cut at the end does not rule out text.
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true })
  return !/[\p{Cc}\ufffd]/u.test(text.replace(/[\t\n\f\r]/g, ' '))
}

function startsWith(text: string, magic: string): boolean {
  return [...magic].every((character, at) => character === '?' || character === text[at])
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}
