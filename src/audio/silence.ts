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
  start: { lead: number; delay: number },
): AsyncGenerator<PlanarSamples> {
  const aligned = createAlignment(start)
  for await (const planes of blocks) yield* aligned(planes)
}

/** Creates a function that does the work of `alignStart` for one block after the other. */
export function createAlignment({ lead, delay }: { lead: number; delay: number }) {
  let samplesToDrop = Math.round(delay * SAMPLE_RATE)
  let isFirst = true
  return function* aligned(planes: PlanarSamples): Generator<PlanarSamples> {
    if (isFirst) yield* silentPlanes(lead * SAMPLE_RATE, planes.length)
    isFirst = false
    yield planes.map((plane) => plane.subarray(samplesToDrop))
    samplesToDrop = Math.max(0, samplesToDrop - planes[0]!.length)
  }
}
