import { AppError } from '../../errors.ts'
import {
  compileWasm,
  instantiateWasm,
  isWasmCrash,
  listImports,
  type WasmMemory,
  type WasmModule,
} from '../../web-assembly.ts'

/** The functions of `wasm/libav.c`. Addresses are numbers; 0 is none. */
type Exports = {
  memory: WasmMemory
  _initialize(): void
  numbers(): number
  text(): number
  describe_error(code: number): void
  input_open(recording: number, size: number, maxTracks: number): number
  input_find_tracks(input: number): number
  input_duration(input: number): number
  input_encoder(input: number): number
  input_tracks(input: number): number
  input_read(input: number): number
  input_close(input: number): void
  track_describe(input: number, track: number): void
  track_codec(input: number, track: number): number
  track_language(input: number, track: number): number
  track_discard(input: number, track: number): void
  decoder_open(input: number, track: number): number
  decoder_send(decoder: number, input: number): number
  decoder_receive(decoder: number): number
  decoder_set_channels(decoder: number, channels: number): number
  decoder_resample(decoder: number, rate: number): number
  decoder_flush(decoder: number): number
  decoder_samples(decoder: number): number
  decoder_plane(decoder: number, channel: number): number
  decoder_clear(decoder: number): void
  decoder_close(decoder: number): void
}

type Call = (...values: number[]) => number

/** Reads up to `to.length` bytes from `position` on; returns how many, 0 at the end. */
export type ReadBytes = (to: Uint8Array, position: number) => number

/** Plain descriptions of libav's errors. */
const REASONS: Readonly<Record<string, string>> = {
  'Invalid data found when processing input': 'the file is damaged, or cut off before its end',
  'End of file': 'the file is cut off before its end',
  // An error of the disk is thrown by `ReadBytes`: demuxers say this of bytes that are missing.
  'I/O error': 'the file is damaged, or cut off before its end',
  // Some demuxers return -1 for what they cannot read, which happens to be the number of this.
  'Argument list too long': 'the file is damaged, or cut off before its end',
}

/** The bytes that libav leaves for a text. */
const TEXT_BYTES = 255
/** What functions of the system (WASI) answer: that there is no such file. */
const EBADF = 8

let compiled: WasmModule | undefined

/**
 * FFmpeg's libraries, compiled to WebAssembly (`wasm/libav.wasm`). They see nothing of the machine
 * but the bytes that `ReadBytes` returns, and have memory of their own, at most 2 GB. Each
 * recording has an instance of its own, since a crash leaves it in no known state.
 */
export class Libav {
  /** Each throws `media_undecodable` when libav crashes, and from then on; closing never throws. */
  readonly calls: Exports
  readonly #recordings: ReadBytes[] = []
  #hasFailed = false
  #hasCrashed = false

  constructor() {
    compiled ??= compileWasm(new URL('wasm/libav.wasm', import.meta.url))
    const system = listImports(compiled).filter(({ module }) => module !== 'host')
    const exports = instantiateWasm(compiled, {
      host: { read: this.#read.bind(this) },
      wasi_snapshot_preview1: Object.fromEntries(system.map(({ name }) => [name, () => EBADF])),
    })
    this.calls = Object.fromEntries(
      Object.entries(exports).map(([name, value]) => {
        return [name, typeof value === 'function' ? this.#guard(name, value as Call) : value]
      }),
    ) as Exports
    this.calls._initialize()
  }

  #guard(name: string, call: Call): Call {
    const isClose = name.endsWith('_close')
    return (...values) => {
      if (this.#hasFailed && isClose) return 0
      if (this.#hasFailed) throw new AppError('media_undecodable', 'the decoder has crashed')
      try {
        return call(...values)
      } catch (error) {
        this.#hasFailed = true // also if `ReadBytes` has thrown: libav did not see its end
        if (!isWasmCrash(error)) throw error
        this.#hasCrashed = true
        if (isClose) return 0
        const reason = `the decoder crashed (${error.message})`
        throw new AppError('media_undecodable', reason, { cause: error })
      }
    }
  }

  /** Whether an error in the code of libav has ended this instance. */
  get hasCrashed(): boolean {
    return this.#hasCrashed
  }

  #read(recording: number, address: number, length: number, position: number): number {
    return this.#recordings[recording]!(this.#bytes(address, length), position)
  }

  /** Adds a source of bytes; returns its number. */
  add(read: ReadBytes): number {
    return this.#recordings.push(read) - 1
  }

  /** Writes a text where the next call expects it. */
  write(text: string): void {
    const bytes = Buffer.from(`${text}\0`)
    if (bytes.length > TEXT_BYTES) throw new RangeError(`the text is too long: ${text}`)
    this.#bytes(this.calls.text(), bytes.length).set(bytes)
  }

  /** Returns the text at an address; undefined for none. */
  read(address: number): string | undefined {
    if (address === 0) return undefined
    const bytes = new Uint8Array(this.calls.memory.buffer, address)
    return Buffer.from(bytes.subarray(0, bytes.indexOf(0))).toString('utf8')
  }

  /** Returns the first `count` values that the last call wrote. */
  numbers(count: number): Float64Array {
    return new Float64Array(this.calls.memory.buffer, this.calls.numbers(), count)
  }

  /** Returns a copy of `count` samples. */
  samples(address: number, count: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.calls.memory.buffer, address, count).slice()
  }

  /** Throws `media_undecodable` for a negative code of libav, and returns any other. */
  require(code: number): number {
    if (code >= 0) return code
    this.calls.describe_error(code)
    const reason = this.read(this.calls.text()) ?? ''
    throw new AppError('media_undecodable', REASONS[reason] ?? reason)
  }

  #bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.calls.memory.buffer, address, length)
  }
}
