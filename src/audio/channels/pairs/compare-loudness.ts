import { SPECTRUM_HOP } from '../spectra.ts'
import type { SpectralFrame } from './pair-comparison.ts'

/** The longest lag of one channel behind another: 10 s, in values of 64 ms. */
const MAX_LAG = 156
/**
 * The maximum number of compared values: half an hour is enough to decide; comparing 12 hours would
 * take eight seconds.
 */
const MAX_VALUES = 28_125
/**
 * The same sound, some seconds later, has a correlation of 0.95 or more; speakers who take turns or
 * speak at once stay below 0.6.
 */
const MIN_CORRELATION = 0.8

/**
 * Returns whether two channels have the same loudness curve in the first half hour, if one is
 * shifted by up to 10 s: then they contain the same sound. Two voices that read one text in unison
 * look the same.
 */
export function isCopy(first: readonly number[], second: readonly number[]): boolean {
  const [a, b] = [first.slice(0, MAX_VALUES), second.slice(0, MAX_VALUES)]
  for (let lag = -MAX_LAG; lag <= MAX_LAG; lag++) {
    if (correlationAt(a, b, lag) >= MIN_CORRELATION) return true
  }
  return false
}

/** Returns Pearson's correlation of two series, of which the second is `lag` values later. */
function correlationAt(first: readonly number[], second: readonly number[], lag: number): number {
  const [from, to] = [Math.max(0, -lag), Math.min(first.length, second.length - lag)]
  let x = 0
  let y = 0
  let xx = 0
  let yy = 0
  let xy = 0
  for (let i = from; i < to; i++) {
    const a = first[i]!
    const b = second[i + lag]!
    x += a
    y += b
    xx += a * a
    yy += b * b
    xy += a * b
  }
  const count = to - from
  const product = (xx - (x * x) / count) * (yy - (y * y) / count)
  // If less than half of the recording overlaps, the correlation is not reliable.
  if (2 * count < first.length || !(product > 0)) return 0
  return (xy - (x * y) / count) / Math.sqrt(product)
}

/** Adds the loudness of each channel in one window, one value per `SPECTRUM_HOP`. */
export function addLoudness(
  loudness: readonly number[][],
  frames: readonly SpectralFrame[],
  samples: number,
): void {
  for (const [i, values] of loudness.entries()) {
    // No spectrum begins in the last hops of a window: the last one is repeated, so that times add
    // up.
    for (let at = 0; at < samples; at += SPECTRUM_HOP) {
      const frame = frames[Math.min(at / SPECTRUM_HOP, frames.length - 1)]
      values.push(frame ? Math.sqrt(frame.spectra[i]!.energy) : 0)
    }
  }
}
