/** Audio whose loud parts stay below this (1 = full scale) is quiet. */
const QUIET_LEVEL = 0.1
/** The level to which the loud parts of quiet audio are raised. */
const TARGET = 0.3
/** Maximum gain: fainter audio is the noise of the device. */
const MAX_GAIN = 30
/** Samples per peak (32 ms), and the share of peaks that may be clicks. */
const FRAME_SAMPLES = 512
const CLICK_SHARE = 0.01

/**
 * Raises quiet audio: both models were trained on speech at usual levels and miss words 30 dB below
 * them. Returns audio at a usual level unchanged.
 */
export function normalizeLevel(audio: Float32Array): Float32Array {
  const level = loudLevel(audio)
  if (level >= QUIET_LEVEL || level === 0) return audio
  const gain = Math.min(MAX_GAIN, TARGET / level)
  return audio.map((sample) => Math.max(-1, Math.min(1, sample * gain)))
}

/** How far back the level of live audio is measured, in frames: about ten seconds. */
export const LEVEL_FRAMES = 312

/**
 * Returns the gain of each frame of live audio, by the frames before it alone: `peaks` are those of
 * the last `LEVEL_FRAMES` frames, in order, the frame itself last. A loud frame after quiet audio
 * is not amplified beyond full scale.
 */
export function liveGain(peaks: readonly number[]): number {
  const clicks = Math.floor(peaks.length * CLICK_SHARE)
  // Most audio is loud enough, which a count of loud peaks shows without sorting.
  let loud = 0
  for (const peak of peaks) if (peak >= QUIET_LEVEL && ++loud > clicks) return 1
  const sorted = Float64Array.from(peaks).sort()
  const level = sorted[sorted.length - 1 - clicks] ?? 0
  if (level === 0) return 1
  const headroom = 1 / Math.max(peaks.at(-1)!, 1e-9)
  return Math.max(1, Math.min(MAX_GAIN, TARGET / level, headroom))
}

/** Returns the peak of the loud parts, without clicks. */
function loudLevel(audio: Float32Array): number {
  const peaks = new Float32Array(Math.ceil(audio.length / FRAME_SAMPLES))
  for (let frame = 0; frame < peaks.length; frame++) {
    const end = Math.min(audio.length, (frame + 1) * FRAME_SAMPLES)
    let peak = 0
    for (let i = frame * FRAME_SAMPLES; i < end; i++) peak = Math.max(peak, Math.abs(audio[i]!))
    peaks[frame] = peak
  }
  const sorted = peaks.sort()
  return sorted[Math.ceil((sorted.length - 1) * (1 - CLICK_SHARE))] ?? 0
}
