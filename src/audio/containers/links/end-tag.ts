import type { ByteSource } from '../byte-source.ts'
import type { FilePart } from './file-part.ts'

/** The bytes of an ID3v1 tag, which is the last of a file. */
const ID3_BYTES = 128
/** The bytes of the header and of the footer of an APE tag. */
const APE_BYTES = 32

/**
 * Returns the part of a file before the APE tag at its end; no part if it has none. Such a tag may
 * hold a cover picture, in which libav finds frames of MP3.
 */
export function findUntagged(source: ByteSource): FilePart[] {
  const last = Buffer.from(source.read(Math.max(0, source.size - ID3_BYTES), 3)).toString('latin1')
  const end = source.size - (last === 'TAG' ? ID3_BYTES : 0)
  if (end < APE_BYTES) return []
  const footer = Buffer.from(source.read(end - APE_BYTES, APE_BYTES))
  if (footer.toString('latin1', 0, 8) !== 'APETAGEX') return []
  // The size counts the footer, but not the header, which a bit announces.
  const hasHeader = footer.readUInt32LE(20) >>> 31 === 1
  const start = end - footer.readUInt32LE(12) - (hasHeader ? APE_BYTES : 0)
  return start > 0 ? [{ start: 0, end: start }] : []
}
