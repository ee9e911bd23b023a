/** Audio whose loud parts stay below this (1 = full scale) is quiet. */
const QUIET_LEVEL = 0.1
/** The level to which the loud parts of quiet audio are raised. */
const TARGET_LEVEL = 0.3
/** Maximum gain: fainter audio is the noise of the device. */
const MAX_GAIN = 30
/** A mean of more than this share of the loud parts is an offset of the sound card, not sound. */
const OFFSET_SHARE = 0.01
/** Samples per peak (32 ms), and the share of peaks that may be clicks. */
const FRAME_SAMPLES = 512
const CLICK_SHARE = 0.01

/**
 * Raises quiet audio and removes an offset: both models were trained on speech at usual levels
 * around zero. They miss words that are 30 dB quieter, and repeat or change words if there is an
 * offset. Returns audio at a usual level, without an offset, unchanged.
 */
export function normalizeLevel(audio: Float32Array): Float32Array {
  const centered = withoutOffset(audio)
  const level = loudLevel(centered)
  if (level >= QUIET_LEVEL || level === 0) return centered
  const gain = Math.min(MAX_GAIN, TARGET_LEVEL / level)
  return centered.map((sample) => Math.max(-1, Math.min(1, sample * gain)))
}

function withoutOffset(audio: Float32Array): Float32Array {
  const offset = audio.reduce((sum, sample) => sum + sample, 0) / audio.length
  if (!(Math.abs(offset) > OFFSET_SHARE * loudLevel(audio))) return audio
  return audio.map((sample) => sample - offset)
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
  return Math.max(1, Math.min(MAX_GAIN, TARGET_LEVEL / level, headroom))
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
