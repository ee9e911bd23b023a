import { AppError } from '../../errors.ts'
import { checkAudioFormat } from '../audio-limits.ts'
import { bytesPerSample, type SampleEncoding } from '../pcm.ts'
import type { ByteSource } from './byte-source.ts'
import type { SampleLayout } from './stored-samples.ts'
import { WAV_TAGS } from './wav-header.ts'

/** Maximum chunks of a file: one with more is crafted to block the reader. */
const MAX_CHUNKS = 1000
/**
 * The size that a writer to a pipe leaves in the header. RF64 files state the real size elsewhere.
 */
const UNKNOWN_SIZE = 0xffff_ffff
/** Other writers to a pipe declare the largest signed or unsigned number, or up to 1 MiB less. */
const UNKNOWN_SIZE_LIMITS = [2 ** 31, 2 ** 32]
const LIMIT_MARGIN_BYTES = 2 ** 20

/** A file, and the order of the bytes in its numbers: RIFX is RIFF with the highest byte first. */
type Riff = { source: ByteSource; isLittleEndian: boolean }

/**
 * Reads the layout of a RIFF, RIFX, RF64 or BW64 file, whose chunks may be in any order. Returns
 * undefined when the samples are in a codec that needs a real decoder (ADPCM, GSM, MP3 …). Of a
 * truncated file, describes the samples that exist.
 */
export function readWavLayout(source: ByteSource): SampleLayout | undefined {
  const outer = source.read(0, 12)
  const isLittleEndian = chunkName(outer) !== 'RIFX'
  const file = { source, isLittleEndian }
  const riffSize = outer.length < 12 ? 0 : view(outer).getUint32(4, isLittleEndian)
  let format: ReturnType<typeof readFormat>
  let samples: { start: number; declared: number } | undefined
  let size64: number | undefined

  let at = 12
  for (let chunkCount = 0; at + 8 <= source.size && chunkCount < MAX_CHUNKS; chunkCount++) {
    const chunk = chunkAt(file, at)
    if (!chunk) break
    const { id, size: declared } = chunk
    const start = at + 8
    let length = declared
    if (id === 'ds64') size64 = readSize64(source.read(start, 16))
    if (id === 'fmt ')
      format = readFormat(source.read(start, Math.min(declared, 40)), isLittleEndian)
    if (id === 'data') {
      length = dataLength(declared, { ...file, start, riffSize, size64 })
      samples = { start, declared: length }
    }
    if (format && (samples || !format.encoding)) break
    at = afterChunk(file, start + length, length)
  }

  if (!format) throw new AppError('media_undecodable', 'WAVE without a format chunk')
  checkAudioFormat(format)
  const { encoding, sampleRate, channels } = format
  if (!encoding && !isLittleEndian) {
    throw new AppError('media_unsupported', 'RIFX with compressed samples')
  }
  if (!encoding) return undefined
  const length = Math.min(samples?.declared ?? 0, source.size - (samples?.start ?? 0))
  if (!samples || length < channels * bytesPerSample(encoding)) {
    throw new AppError('media_undecodable', 'WAVE without samples')
  }
  const { start, declared } = samples
  const isStreamed = UNKNOWN_SIZE_LIMITS.some(
    (limit) => declared <= limit && declared > limit - LIMIT_MARGIN_BYTES,
  )
  const declaredLength = isStreamed ? length : declared
  const unreadLength = countUnread(file, afterChunk(file, start + declared, declared))
  const layout = { sampleRate, channels, encoding, start, length, declaredLength, unreadLength }
  return isLittleEndian ? layout : { ...layout, isBigEndian: true }
}

/**
 * Returns the number of bytes after `at` that are neither metadata chunks nor chunk headers: they
 * are left unread.
 */
function countUnread(file: Riff, at: number): number {
  const { source } = file
  for (let chunkCount = 0; at < source.size && chunkCount < MAX_CHUNKS; chunkCount++) {
    const chunk = isChunk(file, at) ? chunkAt(file, at) : undefined
    if (!chunk || FILE_IDS.includes(chunk.id)) return source.size - at
    const { id, size } = chunk
    if (id === 'data') return Math.min(size, source.size - at - 8)
    at = afterChunk(file, at + 8 + size, size)
  }
  return 0
}

/** The ids with which a whole file begins. */
const FILE_IDS = ['RIFF', 'RIFX', 'RF64', 'BW64']

type DataChunk = Riff & {
  start: number
  riffSize: number
  size64: number | undefined
}

function dataLength(declared: number, { start, riffSize, size64, ...file }: DataChunk): number {
  const { source } = file
  const remainingBytes = source.size - start
  if (declared === UNKNOWN_SIZE) return size64 || remainingBytes
  if (declared > 0) return declared
  // An interrupted recorder leaves 0 in both sizes, or in the outer one only the length that it had
  // written before; one that never returns to this chunk may still declare the outer size.
  const wasStreamed = riffSize === UNKNOWN_SIZE || riffSize + 8 <= start || !isChunk(file, start)
  return wasStreamed ? remainingBytes : 0
}

/** Returns where the next chunk starts. After a chunk of odd length there should be a pad byte. */
function afterChunk(file: Riff, end: number, length: number): number {
  return length % 2 === 0 || isChunk(file, end) ? end : end + 1
}

/** Returns whether bytes look like a chunk and not like samples: a name, and a size that fits. */
function isChunk(file: Riff, at: number): boolean {
  const chunk = chunkAt(file, at)
  if (!chunk) return false
  const { id, size } = chunk
  if (id === 'data') return true // The size of this chunk may be wrong in a truncated file.
  return /^[\x20-\x7e]{4}$/.test(id) && at + 8 + size <= file.source.size
}

/** Returns the name and the size of the chunk at an offset; undefined where the bytes end. */
function chunkAt(
  { source, isLittleEndian }: Riff,
  at: number,
): { id: string; size: number } | undefined {
  const header = source.read(at, 8)
  if (header.length < 8) return undefined
  return { id: chunkName(header), size: view(header).getUint32(4, isLittleEndian) }
}

function chunkName(header: Uint8Array): string {
  return Buffer.from(header.subarray(0, 4)).toString('latin1')
}

/**
 * Reads the sizes of RF64 (EBU Tech 3306): that of the file, then that of the data chunk, 64 bits
 * each.
 */
function readSize64(bytes: Uint8Array): number | undefined {
  if (bytes.length < 16) return undefined
  const size = Number(view(bytes).getBigUint64(8, true))
  return Number.isSafeInteger(size) ? size : undefined
}

function readFormat(bytes: Uint8Array, isLittleEndian: boolean) {
  if (bytes.length < 16) return undefined
  const fields = view(bytes)
  const tag = fields.getUint16(0, isLittleEndian)
  const channels = fields.getUint16(2, isLittleEndian)
  const sampleRate = fields.getUint32(4, isLittleEndian)
  const frameBytes = fields.getUint16(12, isLittleEndian)
  const bits = fields.getUint16(14, isLittleEndian)
  const kind =
    tag === WAV_TAGS.extensible && bytes.length >= 26 ? fields.getUint16(24, isLittleEndian) : tag
  // 20 bits take three bytes and 24 sometimes four: the frame size decides, where it is plausible.
  const [container, needed] = [frameBytes / channels, Math.ceil(bits / 8)]
  const size = Number.isInteger(container) && container > needed ? container : needed
  return { channels, sampleRate, encoding: encodingOf(kind, size) }
}

function encodingOf(tag: number, size: number): SampleEncoding | undefined {
  if (tag === WAV_TAGS.pcm) return ([undefined, 'u8', 's16', 's24', 's32'] as const)[size]
  if (tag === WAV_TAGS.float) return size === 4 ? 'f32' : size === 8 ? 'f64' : undefined
  if (tag === WAV_TAGS.alaw) return 'alaw'
  if (tag === WAV_TAGS.mulaw) return 'mulaw'
  return undefined
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
