import { cpuSeconds } from '../cpu-time.ts'
import { FRAME_SAMPLES } from '../live-recognizer.ts'
import type { Recognizer } from '../recognizer.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'
import { CONTEXT, type VoiceDetector } from '../vad.ts'

/** Seconds of processor time that a session takes for each second in which somebody speaks. */
export type LiveCosts = { listening: number; finals: number; partials: number }

/** An utterance of usual length, and how long it is on average while it is open; seconds. */
const UTTERANCE = 4
const OPEN_UTTERANCE = 2
/** Tokens that speech takes per second, and how many a partial changes. */
const TOKENS = 3.5
const NEW_TOKENS = 3
/** Utterances are heard together with some of the sound around them. */
const CONTEXT_SHARE = 1.27
/** The rest is for the server itself, for what is uneven, and for batches to go on. */
const SHARE = 0.75

/** What measures a session: the models of a live worker. */
export type LiveModels = {
  detector: Pick<VoiceDetector, 'stream'>
  recognizer: Pick<Recognizer, 'measureCost'>
  partials: Pick<Recognizer, 'measureCost'>
}

/**
 * Measures what a session costs, on noise: the cost of a call depends on the length of sound and text,
 * not on what is said. Processor time is counted, so that other work of the machine does not disturb it.
 */
export async function measureCosts(
  { detector, recognizer, partials }: LiveModels,
  { partialInterval }: { partialInterval: number },
): Promise<LiveCosts> {
  const final = await recognizer.measureCost(UTTERANCE, { drafted: 0 })
  const partial = await partials.measureCost(OPEN_UTTERANCE, { drafted: OPEN_UTTERANCE * TOKENS })
  const finalCost = final.begin + final.token * UTTERANCE * TOKENS
  const partialCost = partial.begin + partial.token * NEW_TOKENS
  return {
    listening: await measureListening(detector),
    finals: (finalCost * CONTEXT_SHARE) / UTTERANCE,
    partials: partialCost / partialInterval,
  }
}

async function measureListening(detector: Pick<VoiceDetector, 'stream'>): Promise<number> {
  const hear = detector.stream()
  const frames = Math.round(SAMPLE_RATE / FRAME_SAMPLES)
  const input = new Float32Array(CONTEXT + FRAME_SAMPLES)
  await hear(input)
  const seconds = cpuSeconds()
  for (let i = 0; i < frames; i++) await hear(input)
  return cpuSeconds() - seconds
}

/**
 * Sessions that so many cores carry when all speak all the time: with partials at their usual pace, and
 * at the most, when partials come late or not at all and finals still in time.
 */
export function capacityOf(
  { listening, finals, partials }: LiveCosts,
  cores: number,
): { comfortable: number; most: number } {
  const fit = (cost: number) => Math.max(1, Math.floor((SHARE * cores) / cost))
  return { comfortable: fit(listening + finals + partials), most: fit(listening + finals) }
}
