import { type PlanarSamples, SAMPLE_RATE } from './pcm.ts'

/** The longest block of silence: hours of silence must not fill the memory. */
const BLOCK_SAMPLES = 16_000

/** Yields silence of `samples` (rounded) on every channel, in blocks. */
export function* silentPlanes(samples: number, channels: number): Generator<PlanarSamples> {
  for (
    let remainingSamples = Math.round(samples);
    remainingSamples > 0;
    remainingSamples -= BLOCK_SAMPLES
  ) {
    const length = Math.min(remainingSamples, BLOCK_SAMPLES)
    yield Array.from({ length: channels }, () => new Float32Array(length))
  }
}

/** Inserts `lead` seconds of silence before the audio, and drops its first `delay` seconds. */
export async function* alignStart(
  blocks: AsyncIterable<PlanarSamples>,
  { lead, delay }: { lead: number; delay: number },
): AsyncGenerator<PlanarSamples> {
  let samplesToDrop = Math.round(delay * SAMPLE_RATE)
  let isFirst = true
  for await (const planes of blocks) {
    if (isFirst) yield* silentPlanes(lead * SAMPLE_RATE, planes.length)
    isFirst = false
    yield planes.map((plane) => plane.subarray(samplesToDrop))
    samplesToDrop = Math.max(0, samplesToDrop - planes[0]!.length)
  }
}
