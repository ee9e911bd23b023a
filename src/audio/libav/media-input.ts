import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { MAX_TRACKS } from '../audio-limits.ts'
import type { FilePart } from '../containers/links/file-part.ts'
import type { Heartbeat } from '../decoder/decoder-messages.ts'
import type { Libav } from './libav.ts'

/** The number of consecutive errors after which a damaged file is considered to have ended. */
const MAX_READ_ERRORS = 50
/** The number of packets that are read between two heartbeats, which takes a few milliseconds. */
const PACKETS_PER_HEARTBEAT = 2000
/** libav's code for the end of a file. */
const END_OF_FILE = -0x20464f45

/** libav's numbers for the types of tracks that we tell apart. */
const KINDS: Readonly<Record<number, Track['kind']>> = { 0: 'video', 1: 'audio' }
/** libav's bits for what a track is. */
const MARKS = {
  default: 0x0001,
  comment: 0x0008,
  hearingImpaired: 0x0080,
  visualImpaired: 0x0100,
  picture: 0x0400,
}

/** A track of a file, as far as libav knows it so far. */
export type Track = {
  /** Its index in the file. */
  index: number
  kind: 'audio' | 'video' | 'other'
  /** The name of its codec, or its tag in the file if libav does not know it. */
  codec: string
  isDecodable: boolean
  sampleRate: number
  channels: number
  isDefault: boolean
  /** Whether it repeats or explains the sound of another track. */
  isAccompanying: boolean
  /** Whether it is a picture without a time, such as a cover. */
  isPicture: boolean
  /** ISO 639-2; undefined if unknown. */
  language: string | undefined
  /** When it starts, in seconds; undefined if unknown. */
  start: number | undefined
  /** Its length in seconds; undefined if unknown. */
  duration: number | undefined
}

/** A packet of a track, without its bytes. */
export type Packet = {
  /** The index of its track. */
  track: number
  /** Seconds; undefined if it has no time stamp. */
  start: number | undefined
  /** Seconds; 0 if unknown. */
  duration: number
  /** Whether samples of it are to be cut off. */
  isTrimmed: boolean
}

/** A file that libav reads, or a part of it. */
export class MediaInput {
  readonly libav: Libav
  readonly address: number
  /**
   * Whether packets have time stamps. Those of AVI do not: libav counts packets, or their bytes,
   * and is wrong about DTS and Vorbis.
   */
  readonly hasTimes: boolean
  readonly #file: number

  /**
   * Opens a file with one demuxer and no other. Throws `media_undecodable` if its header cannot be
   * read. The caller closes it.
   */
  constructor(
    libav: Libav,
    path: string,
    { demuxer, part }: { demuxer: string; part?: FilePart | undefined },
  ) {
    this.libav = libav
    this.hasTimes = demuxer !== 'avi'
    this.#file = openSync(path, 'r')
    try {
      const { start, end } = part ?? { start: 0, end: fstatSync(this.#file).size }
      const recording = libav.add((to, position) => {
        const length = Math.min(to.length, end - start - position)
        // A damaged file may point to where Node cannot even read nothing.
        return length <= 0 ? 0 : readSync(this.#file, to, 0, length, start + position)
      })
      libav.write(demuxer)
      // One more track than supported, so that a file with too many is rejected for this reason.
      this.address = libav.require(libav.calls.input_open(recording, end - start, MAX_TRACKS + 1))
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  /** Closes the file, and frees what libav holds of it. */
  close(): void {
    closeSync(this.#file)
    this.libav.calls.input_close(this.address)
  }

  /** Reads the beginning of all tracks, as far as their properties are not in the header. */
  findTracks(): void {
    this.libav.require(this.libav.calls.input_find_tracks(this.address))
  }

  /** The length that the file declares, in seconds; 0 if it declares none. */
  get duration(): number {
    return Math.max(0, this.libav.calls.input_duration(this.address) || 0)
  }

  /** The name of the program that wrote the file. */
  get encoder(): string | undefined {
    return this.libav.read(this.libav.calls.input_encoder(this.address))
  }

  /** What is known of the tracks now: reading packets adds guesses. */
  tracks(): Track[] {
    const count = this.libav.calls.input_tracks(this.address)
    return Array.from({ length: count }, (_, index) => this.#track(index))
  }

  #track(index: number): Track {
    const { libav, address } = this
    libav.calls.track_describe(address, index)
    const [type, decodable, tag, sampleRate, channels, marks, start, duration] = libav.numbers(8)
    const hasMark = (mark: keyof typeof MARKS) => (marks! & MARKS[mark]) !== 0
    const codec = libav.read(libav.calls.track_codec(address, index)) ?? 'none'
    return {
      index,
      kind: KINDS[type!] ?? 'other',
      codec: codec === 'none' ? nameOfTag(tag!) : codec,
      isDecodable: decodable === 1,
      sampleRate: sampleRate!,
      channels: channels!,
      isDefault: hasMark('default'),
      isAccompanying: (['comment', 'hearingImpaired', 'visualImpaired'] as const).some(hasMark),
      isPicture: hasMark('picture'),
      language: libav.read(libav.calls.track_language(address, index)),
      start: Number.isNaN(start) ? undefined : start,
      duration: Number.isNaN(duration) ? undefined : duration,
    }
  }

  /** Makes the demuxer skip all other tracks: pictures are most of a film; nothing needs them. */
  keepTracks(indexes: readonly number[]): void {
    const count = this.libav.calls.input_tracks(this.address)
    for (let index = 0; index < count; index++) {
      if (!indexes.includes(index)) this.libav.calls.track_discard(this.address, index)
    }
  }

  /**
   * Yields the packets of one track, or of all, and skips damaged parts. A decoder can take each
   * packet until the next one is read.
   */
  async *packets({
    track,
    heartbeat,
  }: {
    track?: number
    heartbeat: Heartbeat
  }): AsyncGenerator<Packet> {
    let errors = 0
    for (let count = 1; errors < MAX_READ_ERRORS; count++) {
      if (count % PACKETS_PER_HEARTBEAT === 0) await heartbeat()
      const code = this.libav.calls.input_read(this.address)
      if (code === END_OF_FILE) return
      errors = code < 0 ? errors + 1 : 0
      if (code < 0) continue
      const [index, start, duration, isTrimmed] = this.libav.numbers(4)
      if (track !== undefined && index !== track) continue
      yield {
        track: index!,
        start: Number.isNaN(start) ? undefined : start,
        duration: duration!,
        isTrimmed: isTrimmed === 1,
      }
    }
  }
}

/** Most containers have four characters, WAV and AVI a number. */
function nameOfTag(tag: number): string {
  const bytes = [0, 8, 16, 24].map((shift) => (tag >> shift) & 0xff)
  const name = String.fromCharCode(...bytes)
  return /^[\w -]{4}$/.test(name) ? name : `0x${tag.toString(16)}`
}
