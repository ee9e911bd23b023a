import { setTimeout as delay } from 'node:timers/promises'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { cpuSeconds } from '../../workers/cpu-time.ts'
import type { Recognizer } from '../engines/recognizer.ts'
import type { Vad } from '../segmentation/vad.ts'
import { CONTEXT_SAMPLES, VAD_FRAME } from '../segmentation/vad-frames.ts'

/**
 * Processor seconds that a session takes per second of speech; with partials at their longest
 * interval.
 */
export type LiveCosts = { vad: number; finals: number; partials: number }

/** The costs that a process measures: per second of speech, or of one partial. */
export type MeasuredCosts = { vad?: number; finals?: number; partial?: number }

/** Length of a typical utterance, and its mean length while it is open; in seconds. */
const UTTERANCE_SECONDS = 4
const OPEN_UTTERANCE_SECONDS = 2
/** Tokens per second of speech, and how many of them a partial changes. */
const TOKENS_PER_SECOND = 3.5
const NEW_TOKENS = 3
/** VAD frames per call, for a client that sends 0.1 s of audio per message. */
const FRAMES_PER_CALL = 3
/** Utterances are recognized together with some of the audio around them. */
const CONTEXT_SHARE = 1.27
/**
 * Ratio of all fixed work of a session (conversion, files, messages) to the VAD model alone. With
 * eight sessions, each second of audio took 25 ms in the server and 13 ms in the VAD process, 4 to
 * 5 ms of that in the model.
 */
const OVERHEAD_RATIO = 8.6
/**
 * The share of the cores that sessions may use. The remainder absorbs uneven load, and processes
 * that run side by side take more processor time than one that is measured alone. Two cores fit 8
 * sessions by this share: the 95th percentile of the delay of their finals was 0.46 to 0.55 s after
 * the end of speech; with 10 sessions it was 0.85 s.
 */
const USABLE_SHARE = 0.52

/**
 * Pauses before each measurement, in milliseconds. While the server starts, other processes take
 * the cores and their caches: a measurement then counts up to twice the processor time.
 */
const PAUSES_MS = [0, 3000, 7000]

/**
 * The number of sessions that fit, the weight of a session without partials (0 to 1), and the costs
 * from which both are computed.
 */
export type LiveCapacity = LiveCosts & { sessions: number; weightWithoutPartials: number }

/** What is measured, and when; `pausesMs` is for tests. */
export type CapacityOptions = {
  cores: number
  measure: () => Promise<LiveCosts>
  mayRepeat: () => boolean
  signal: AbortSignal
  pausesMs?: readonly number[]
}

/**
 * Yields the number of sessions that fit on `cores`, first at once, then after further measurements
 * while `mayRepeat` returns true. Uses the lowest value of each cost: other work on the machine
 * only increases it.
 */
export async function* measureCapacity({
  cores,
  measure,
  mayRepeat,
  signal,
  pausesMs = PAUSES_MS,
}: CapacityOptions): AsyncGenerator<LiveCapacity> {
  const lowest = { vad: Infinity, finals: Infinity, partials: Infinity }
  for (const [i, pauseMs] of pausesMs.entries()) {
    await delay(pauseMs, undefined, { signal, ref: false })
    if (i > 0 && !mayRepeat()) return
    const costs = await measure()
    for (const part of ['vad', 'finals', 'partials'] as const) {
      lowest[part] = Math.min(lowest[part], costs[part])
    }
    yield { ...capacityOf(lowest, cores), ...lowest }
  }
}

/** Measures the cost of the finals of a session, and of its speech detection. */
export async function measureFinals(
  detector: Pick<Vad, 'stream'>,
  recognizer: Pick<Recognizer, 'measureCost'>,
): Promise<MeasuredCosts> {
  const final = await recognizer.measureCost(UTTERANCE_SECONDS, { drafted: 0 })
  const finalCost = final.encode + final.perToken * UTTERANCE_SECONDS * TOKENS_PER_SECOND
  return {
    vad: await measureVad(detector),
    finals: (finalCost * CONTEXT_SHARE) / UTTERANCE_SECONDS,
  }
}

/**
 * Measures the cost of a partial. Like the others, it is measured on noise: the cost of a call
 * depends on the length of audio and text, not on the words. Counts processor time, so that other
 * work on the machine does not distort it.
 */
export async function measurePartial(
  recognizer: Pick<Recognizer, 'measureCost'>,
): Promise<MeasuredCosts> {
  const partial = await recognizer.measureCost(OPEN_UTTERANCE_SECONDS, {
    drafted: OPEN_UTTERANCE_SECONDS * TOKENS_PER_SECOND,
  })
  return { partial: partial.encode + partial.perToken * NEW_TOKENS }
}

/** Joins the measurements of the processes, for partials every `interval` seconds. */
export function joinCosts(measured: readonly MeasuredCosts[], interval: number): LiveCosts {
  const { vad = 0, finals = 0, partial = 0 } = Object.assign({}, ...measured) as MeasuredCosts
  return { vad: vad * OVERHEAD_RATIO, finals, partials: partial / interval }
}

async function measureVad(detector: Pick<Vad, 'stream'>): Promise<number> {
  const step = detector.stream()
  const calls = Math.round(SAMPLE_RATE / VAD_FRAME / FRAMES_PER_CALL)
  const input = new Float32Array(CONTEXT_SAMPLES + VAD_FRAME)
  const inputs = Array.from({ length: FRAMES_PER_CALL }, () => input)
  await step(inputs)
  const seconds = cpuSeconds()
  for (let i = 0; i < calls; i++) await step(inputs)
  return cpuSeconds() - seconds
}

/**
 * Returns how many sessions with continuous speech and partials `cores` can serve in time, and the
 * weight of a session without partials (0 to 1).
 */
export function capacityOf(
  { vad, finals, partials }: LiveCosts,
  cores: number,
): { sessions: number; weightWithoutPartials: number } {
  const total = vad + finals + partials
  return {
    sessions: Math.max(1, Math.floor((USABLE_SHARE * cores) / total)),
    weightWithoutPartials: (vad + finals) / total,
  }
}
