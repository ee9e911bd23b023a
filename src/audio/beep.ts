import { SAMPLE_RATE } from './pcm.ts'

/** A part of a channel, in samples; the one at `end` is not in it. */
export type SampleSpan = { start: number; end: number }

/** The tone that broadcasters put over words. Every telephone and every small loudspeaker carries it. */
const PITCH = 1000
/** -20 dB of full scale: about as loud as the speech around it. */
const PEAK = 32_768 * 10 ** (-20 / 20)
/** Samples in which the tone comes and goes: 8 ms, or it would begin and end with a click. */
const EDGE = 0.008 * SAMPLE_RATE
/** One period: hours of speech may hold many minutes of tone. */
const tone = Float64Array.from({ length: SAMPLE_RATE / PITCH }, (_, i) => {
  return PEAK * Math.sin((2 * Math.PI * PITCH * i) / SAMPLE_RATE)
})

/**
 * Puts a tone in place of what `stretches` holds of a channel whose samples from `at` on these are. They are
 * replaced, not mixed: nothing of what was there can be brought back.
 */
export function beepOver(
  samples: Int16Array,
  { at, stretches }: { at: number; stretches: readonly SampleSpan[] },
): void {
  for (const stretch of stretches) {
    const from = Math.max(stretch.start, at)
    const to = Math.min(stretch.end, at + samples.length)
    for (let i = from; i < to; i++) samples[i - at] = Math.round(toneAt(i, stretch))
  }
}

/** The same for a sample, however the channel is cut into blocks. */
function toneAt(i: number, { start, end }: SampleSpan): number {
  const fromEdge = Math.min(i - start, end - 1 - i)
  const loudness = fromEdge < EDGE ? (1 - Math.cos((Math.PI * fromEdge) / EDGE)) / 2 : 1
  return loudness * tone[i % tone.length]!
}
