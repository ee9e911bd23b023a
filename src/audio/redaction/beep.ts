import { SAMPLE_RATE } from '../pcm.ts'

/** A span of a channel, in samples; `end` is exclusive. */
export type SampleSpan = { start: number; end: number }

/**
 * The frequency of the tone, as broadcasters use it. Every telephone and small loudspeaker plays
 * it.
 */
const TONE_HZ = 1000
/** -20 dB of full scale: about as loud as the speech around it. */
const TONE_PEAK = 32_768 * 10 ** (-20 / 20)
/**
 * The number of samples over which the tone fades in and out: without these 8 ms, it would begin
 * and end with a click.
 */
const FADE_SAMPLES = 0.008 * SAMPLE_RATE
/**
 * One period of the tone, which is computed only once, because hours of speech may contain many
 * minutes of tone.
 */
const tone = Float64Array.from({ length: SAMPLE_RATE / TONE_HZ }, (_, i) => {
  return TONE_PEAK * Math.sin((2 * Math.PI * TONE_HZ * i) / SAMPLE_RATE)
})

/**
 * Replaces the `spans` of a channel with a tone, in place. `samples` are those of the channel from
 * sample `at` on. The tone is not mixed with the speech: nothing of the original can be recovered.
 */
export function beepOver(
  samples: Int16Array,
  { at, spans }: { at: number; spans: readonly SampleSpan[] },
): void {
  for (const span of spans) {
    const from = Math.max(span.start, at)
    const to = Math.min(span.end, at + samples.length)
    for (let i = from; i < to; i++) samples[i - at] = Math.round(toneAt(i, span))
  }
}

/** Returns a sample of the tone; it does not depend on how the channel is split into blocks. */
function toneAt(i: number, { start, end }: SampleSpan): number {
  const fromEdge = Math.min(i - start, end - 1 - i)
  const loudness =
    fromEdge < FADE_SAMPLES ? (1 - Math.cos((Math.PI * fromEdge) / FADE_SAMPLES)) / 2 : 1
  return loudness * tone[i % tone.length]!
}
