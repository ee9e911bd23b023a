import { sum } from '../../../numbers.ts'
import type { ByteSource } from '../byte-source.ts'
import type { FilePart } from './file-part.ts'

/** A page: 27 bytes of header with the number of its segments, and their sizes (RFC 3533). */
const [HEADER, MAX_SEGMENTS] = [27, 255]
const MAX_PAGE = HEADER + MAX_SEGMENTS + MAX_SEGMENTS * 255
/**
 * The pages of two gigabytes, at the usual page size. More and smaller pages would block the
 * reader.
 */
const MAX_PAGES = 500_000
/** Maximum links of a chain: recordings of a radio station have one per song. */
const MAX_LINKS = 1000
/** Maximum streams of a link, which begins with one page for each: audio, video, subtitles. */
const MAX_STREAMS = 100
/** The bytes at the start of a codec header that contain rate and channels. */
const FORMAT_BYTES = 64

type OggPage = { serial: number; isBeginning: boolean; content: FilePart }

/**
 * Returns the parts of a chained Ogg file that differ in codec, rate or channels: libav decodes a
 * chain as long as these do not change, but reports the length of its last link as that of the
 * file. Returns no parts for any other file.
 */
export function findOggLinks(source: ByteSource): FilePart[] {
  if (!isChained(source)) return []
  const starts: { at: number; format: string }[] = []
  let isStart = false
  let at = 0
  for (let pages = 0; pages < MAX_PAGES && starts.length < MAX_LINKS; pages++) {
    const page = readOggPage(source, at)
    if (!page) break
    const { content, isBeginning } = page
    if (isBeginning) {
      const length = Math.min(FORMAT_BYTES, content.end - content.start)
      const format = Buffer.from(source.read(content.start, length))
      if (!isStart) starts.push({ at, format: '' })
      starts.at(-1)!.format += format.toString('latin1')
    }
    isStart = isBeginning
    at = content.end
  }
  if (starts.length < 2) return []
  const parts = starts.filter(({ format }, i) => format !== starts[i - 1]?.format)
  return parts.map((part, i) => {
    const next = parts[i + 1]
    const links = (next ? starts.indexOf(next) : starts.length) - starts.indexOf(part)
    return { start: part.at, end: next?.at ?? source.size, links }
  })
}

/** Returns whether a second link follows: its serial numbers differ from those of the first. */
function isChained(source: ByteSource): boolean {
  const from = Math.max(0, source.size - MAX_PAGE)
  const tail = Buffer.from(source.read(from, MAX_PAGE))
  const last = readOggPage(source, from + tail.lastIndexOf('OggS'))
  if (!last) return false
  let at = 0
  for (let streams = 0; streams < MAX_STREAMS; streams++) {
    const page = readOggPage(source, at)
    if (!page?.isBeginning) return true
    if (page.serial === last.serial) return false
    at = page.content.end
  }
  return false
}

function readOggPage(source: ByteSource, at: number): OggPage | undefined {
  const header = Buffer.from(source.read(at, HEADER + MAX_SEGMENTS))
  if (header.length < HEADER || header.toString('latin1', 0, 4) !== 'OggS') return undefined
  const segments = header.subarray(HEADER, HEADER + header[26]!)
  const start = at + HEADER + header[26]!
  const end = start + sum(segments)
  return {
    serial: header.readUInt32LE(14),
    isBeginning: (header[5]! & 2) > 0,
    content: { start, end },
  }
}
