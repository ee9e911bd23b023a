import type { PlanarSamples } from '../../../audio/pcm.ts'
import type { DetectRequest } from '../live-engine.ts'

/** Samples of live audio at 16 kHz, read in order. */
export type SampleSource = {
  /**
   * Returns samples `from` to `to` of each channel, or as many as there are yet; `from` is where
   * the last read ended.
   */
  read(request: DetectRequest, range: { from: number; to: number }): PlanarSamples
  close(): void
}
