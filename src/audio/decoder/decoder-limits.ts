import type { DecodeRequest, ProbeRequest } from './decoder-messages.ts'

/**
 * Maximum number of files of one account that wait to be probed, and of those that wait to be
 * decoded: they mean minutes of work and as many requests.
 */
export const MAX_WAITING_FILES = 100

/** The resource limits of a decoder process. In bytes and seconds. */
export type DecoderLimits = {
  /** Memory in use, checked a few times a second. */
  memoryBytes: number
  /** Memory that may be requested; the system refuses more if it can. */
  dataBytes: number
  cpuSeconds: number
  /** Elapsed time. On a busy machine, a second of CPU time takes several seconds. */
  wallSeconds: number
  /** The maximum size of each written file. */
  fileBytes: number
}

/**
 * Node and libav take 90 MB before they have read anything, the index of twelve hours of film 170
 * MB more; the rest is for its covers.
 */
const MEMORY_BYTES = 512 * 1024 * 1024
/** Node alone requests 620 MB for stacks and reserves, most of which are never used. */
const DATA_BYTES = 1536 * 1024 * 1024
/** Counting the 400,000 packets of 2:15 h took 5 s on a busy machine. */
const PROBE_CPU_SECONDS = 30
/**
 * The CPU seconds of decoding: a base, and an amount per second of audio. An hour of stereo MP3
 * takes 7 s on an idle machine, twice that on a busy one.
 */
const [DECODE_CPU_SECONDS, DECODE_CPU_PER_SECOND] = [60, 0.1]
/** On a busy machine, a decoder gets an eighth of a core. */
const WALL_PER_CPU = 8
/** The bytes that an output file may have in addition to its audio. */
const SPARE_BYTES = 1024 * 1024
/** 16-bit samples at 16 kHz. */
const BYTES_PER_SECOND = 32_000

/**
 * Returns the limits of one request. Those of decoding grow with the longest accepted recording.
 */
export function decoderLimitsOf(request: ProbeRequest | DecodeRequest): DecoderLimits {
  const isProbe = request.task === 'probe'
  const cpuSeconds = isProbe
    ? PROBE_CPU_SECONDS
    : Math.ceil(DECODE_CPU_SECONDS + request.maxSeconds * DECODE_CPU_PER_SECOND)
  return {
    memoryBytes: MEMORY_BYTES,
    dataBytes: DATA_BYTES,
    cpuSeconds,
    wallSeconds: cpuSeconds * WALL_PER_CPU,
    fileBytes: isProbe ? 0 : request.maxSeconds * BYTES_PER_SECOND + SPARE_BYTES,
  }
}
