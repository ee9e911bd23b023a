import { AppError } from '../../errors.ts'
import { sum } from '../../numbers.ts'
import { MAX_TRACKS } from '../audio-limits.ts'
import type { ByteSource } from './byte-source.ts'
import { type Box, readBoxes } from './mp4-boxes.ts'

/**
 * Maximum samples of a file: twelve hours of film, with 47 audio frames and 60 pictures a second,
 * have 4.6 million. libav keeps about 36 bytes of each.
 */
const MAX_SAMPLES = 8_000_000
/**
 * Maximum samples that edits refer to, counted once per edit. A film with hundreds of edits has
 * fewer.
 */
const MAX_EDITED_SAMPLES = 500_000_000
/** libav indexes uncompressed samples in chunks of at least this many. */
const CHUNK_SAMPLES = 512

/** Minimum number of bytes of an entry in the file, after a 32-bit count. */
const entryBytes: Record<string, number> = {
  stts: 8,
  ctts: 8,
  stsc: 12,
  stco: 4,
  co64: 8,
  stss: 4,
  stps: 4,
  elst: 12,
}

/** The declared index of one track. */
type Track = {
  isAudioTrack: boolean
  samples: number
  edits: number
  chunks: number
  /** Whether every sample lasts one tick, as with uncompressed audio. */
  isTicks: boolean
  /** The first chunk, and the samples per chunk, of each run of chunks. */
  runs: { first: number; samples: number }[]
}

/**
 * Rejects an MP4, MOV or 3GP file whose tables declare more than the file can contain, before libav
 * builds them: 85 million samples of one size take 20 bytes in the file and gigabytes in memory.
 * Throws `media_unsupported`.
 */
export function checkMp4Tables(source: ByteSource): void {
  const tracks: Track[] = []
  let fragmentSamples = 0
  for (const { box, source: content } of readBoxes(source)) {
    if (box.type === 'trak') tracks.push(emptyTrack())
    if (tracks.length > MAX_TRACKS) {
      throw new AppError('media_unsupported', `more than ${MAX_TRACKS} tracks`)
    }
    checkEntries(content, box, source.size)
    if (box.type === 'trun') fragmentSamples += readUint32(content, box, 4)
    else if (box.type === 'saiz') fragmentSamples += readAuxiliarySamples(content, box)
    else readTable(tracks.at(-1) ?? emptyTrack(), content, box)
  }
  const sampleCount = fragmentSamples + sum(tracks.map(indexedSamples))
  if (sampleCount > Math.min(MAX_SAMPLES, source.size)) {
    throw tooMany(`${sampleCount} samples`, source.size)
  }
  const edited = sum(tracks.map(({ edits, samples }) => edits * samples))
  if (edited > MAX_EDITED_SAMPLES) throw tooMany(`edits of ${edited} samples`, source.size)
}

function emptyTrack(): Track {
  return { isAudioTrack: false, samples: 0, edits: 0, chunks: 0, isTicks: false, runs: [] }
}

function checkEntries(source: ByteSource, box: Box, fileBytes: number): void {
  const bytes = entryBytes[box.type]
  if (bytes === undefined) return
  const entries = readUint32(source, box, 4)
  if (entries * bytes > fileBytes) throw tooMany(`${entries} entries in ${box.type}`, fileBytes)
}

function readTable(track: Track, source: ByteSource, box: Box): void {
  switch (box.type) {
    case 'hdlr':
      // The first `hdlr` box states the type of the track; one of a metadata box may follow.
      track.isAudioTrack ||=
        Buffer.from(source.read(box.start + 8, 4)).toString('latin1') === 'soun'
      break
    case 'stsz':
    case 'stz2':
      track.samples = Math.max(track.samples, readUint32(source, box, 8))
      break
    case 'stts':
      track.isTicks = readUint32(source, box, 4) === 1 && readUint32(source, box, 12) === 1
      break
    case 'stco':
    case 'co64':
      track.chunks = Math.max(track.chunks, readUint32(source, box, 4))
      break
    case 'stsc':
      track.runs = readRuns(source, box)
      break
    case 'elst':
      track.edits += readUint32(source, box, 4)
  }
}

function readRuns(source: ByteSource, box: Box): Track['runs'] {
  const entries = Math.min(readUint32(source, box, 4), Math.floor((box.end - box.start - 8) / 12))
  const runs: Track['runs'] = []
  for (let at = 0; at < entries; at += 4096) {
    const bytes = source.read(box.start + 8 + 12 * at, 12 * Math.min(4096, entries - at))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    for (let i = 0; i + 12 <= bytes.length; i += 12) {
      runs.push({ first: view.getUint32(i), samples: view.getUint32(i + 4) })
    }
  }
  return runs
}

/**
 * Returns the entries that libav creates for a track: one per sample, or one per chunk of
 * uncompressed audio.
 */
function indexedSamples({ isAudioTrack, isTicks, samples, chunks, runs }: Track): number {
  if (!isAudioTrack || !isTicks) return samples
  return sum(
    runs.map((run, i) => {
      const end = Math.min(chunks + 1, runs[i + 1]?.first ?? chunks + 1)
      return Math.max(0, end - run.first) * Math.ceil(run.samples / CHUNK_SAMPLES)
    }),
  )
}

/** Returns the sample count of a `saiz` box; its flags state whether eight bytes precede it. */
function readAuxiliarySamples(source: ByteSource, box: Box): number {
  const hasKind = (readUint32(source, box, 0) & 1) === 1
  return readUint32(source, box, hasKind ? 13 : 5)
}

/** Returns the 32-bit number at `offset` in the content of a box; 0 beyond its end. */
function readUint32(source: ByteSource, { start, end }: Box, offset: number): number {
  if (start + offset + 4 > end) return 0
  const bytes = source.read(start + offset, 4)
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0)
}

function tooMany(declared: string, fileBytes: number): AppError {
  return new AppError('media_unsupported', `${declared} declared in ${fileBytes} bytes`)
}
