import type { PlanarSamples } from '../pcm.ts'

/**
 * Joins recordings of one channel each to blocks with all channels. Those that end earlier go on
 * with silence.
 */
export async function* joinChannels(
  recordings: readonly AsyncIterable<PlanarSamples>[],
): AsyncGenerator<PlanarSamples> {
  const readers = recordings.map((blocks) => blocks[Symbol.asyncIterator]())
  try {
    // The samples of each channel that were read and not yet returned; undefined after its end.
    let waiting: (PlanarSamples[number] | undefined)[] = readers.map(() => new Float32Array(0))
    while (true) {
      waiting = await Promise.all(
        waiting.map((samples, n) => samples && readMore(samples, readers[n]!)),
      )
      const lengths = waiting.flatMap((samples) => samples?.length ?? [])
      if (lengths.length === 0) return
      const shortest = Math.min(...lengths)
      yield waiting.map((samples) => samples?.subarray(0, shortest) ?? new Float32Array(shortest))
      waiting = waiting.map((samples) => samples?.subarray(shortest))
    }
  } finally {
    for (const reader of readers) await reader.return?.()
  }
}

/** Returns the waiting samples, or the next ones if there are none; undefined at the end. */
async function readMore(
  waiting: PlanarSamples[number],
  reader: AsyncIterator<PlanarSamples>,
): Promise<PlanarSamples[number] | undefined> {
  let samples: PlanarSamples[number] | undefined = waiting
  while (samples?.length === 0) {
    const next = await reader.next()
    samples = next.done ? undefined : next.value[0]
  }
  return samples
}
