import { inflateSync } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { type ByteSource, bytesSource } from './byte-source.ts'

/**
 * A box of the ISO file format (ISO 14496-12, section 4.2): its type and the range of its content.
 */
export type Box = { type: string; start: number; end: number; depth: number }

/** Boxes that contain boxes, at any level: libav also reads them at any level. */
const containers = new Set([
  ...['moov', 'trak', 'mdia', 'minf', 'stbl', 'edts', 'dinf', 'gmhd', 'clip', 'matt', 'tref'],
  ...['moof', 'traf', 'mvex', 'mfra', 'udta', 'sinf', 'schi', 'wave', 'iprp', 'ipco', 'rinf'],
])
/** The maximum depth, which is also libav's. */
const MAX_DEPTH = 10
/**
 * The maximum number of boxes: two hours in fragments of a tenth of a second have about 600,000.
 */
const MAX_BOXES = 1_000_000
/** Limit of a compressed index of QuickTime 3; the index of two hours is much smaller. */
const MAX_INFLATED_BYTES = 32 * 1024 * 1024

/**
 * Yields every box of a file in order, parents first, with the source of its content. Ends where
 * the structure becomes invalid, as libav does. Throws `media_unsupported` for more boxes than a
 * recording has.
 */
export function* readBoxes(source: ByteSource): Generator<{ box: Box; source: ByteSource }> {
  const counter = { left: MAX_BOXES }
  yield* walkBoxes(source, { from: 0, to: source.size, depth: 0 }, counter)
}

type BoxRange = { from: number; to: number; depth: number }

function* walkBoxes(
  source: ByteSource,
  { from, to, depth }: BoxRange,
  counter: { left: number },
): Generator<{ box: Box; source: ByteSource }> {
  for (let at = from; at + 8 <= to; ) {
    const box = readBox(source, { at, to, depth })
    if (!box) return
    if (counter.left-- <= 0) {
      throw new AppError('media_unsupported', `more than ${MAX_BOXES} boxes`)
    }
    yield { box, source }
    const { start, end, type } = box
    at = end
    if (depth >= MAX_DEPTH) continue
    if (type === 'cmvd') {
      const inflated = inflateIndex(source, box)
      if (inflated)
        yield* walkBoxes(inflated, { from: 0, to: inflated.size, depth: depth + 1 }, counter)
    } else if (containers.has(type) || type === 'cmov' || isHiddenIndex(source, box)) {
      yield* walkBoxes(source, { from: start, to: end, depth: depth + 1 }, counter)
    }
  }
}

function readBox(
  source: ByteSource,
  { at, to, depth }: { at: number; to: number; depth: number },
): Box | undefined {
  const header = source.read(at, 16)
  if (header.length < 8) return undefined
  const view = new DataView(header.buffer, header.byteOffset, header.length)
  const type = Buffer.from(header.subarray(4, 8)).toString('latin1')
  const size = view.getUint32(0)
  if (size === 0) return { type, start: at + 8, end: to, depth }
  if (size === 1) {
    const large = header.length < 16 ? 0 : Number(view.getBigUint64(8))
    return large < 16 ? undefined : { type, start: at + 16, end: Math.min(to, at + large), depth }
  }
  return size < 8 ? undefined : { type, start: at + 8, end: Math.min(to, at + size), depth }
}

/**
 * Returns whether a box that is marked as free contains the index, as interrupted writers leave it;
 * libav reads it there.
 */
function isHiddenIndex(source: ByteSource, { type, start }: Box): boolean {
  if (type !== 'free' && type !== 'hoov') return false
  const inner = Buffer.from(source.read(start + 4, 4)).toString('latin1')
  return inner === 'mvhd' || inner === 'cmov'
}

/**
 * Decompresses an index: four bytes of inflated length, and a zlib stream (QuickTime File Format,
 * 2001).
 */
function inflateIndex(source: ByteSource, { start, end }: Box): ByteSource | undefined {
  const deflated = source.read(start + 4, Math.min(end - start - 4, MAX_INFLATED_BYTES))
  try {
    return bytesSource(inflateSync(deflated, { maxOutputLength: MAX_INFLATED_BYTES }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return undefined
    throw new AppError('media_unsupported', 'a compressed index of more than 32 MB')
  }
}
