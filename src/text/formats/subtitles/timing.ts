/** The time during which a caption shows, in whole milliseconds. */
export type CaptionTime = { start: number; end: number }

/** All in milliseconds. */
export type TimingLimits = {
  minDuration: number
  maxDuration: number
  gap: number
  recordingEnd: number
}

/**
 * A caption that the next one cuts short is shown at least this long, enough to read a word or two.
 */
const READABLE_MS = 1000

/**
 * Orders captions by start, so that each ends at least `gap` before the next one starts, and shows
 * each for at least `minDuration` where the next one and the end of the recording allow. Where
 * several people speak at once, a caption ends as the next one starts. If that leaves it less than
 * a second, the next one is delayed, but by at most half the duration of its own words: captions
 * never drift away from the audio. Every caption shows for at least a millisecond.
 */
export function spaceCaptions<T extends CaptionTime>(
  captions: readonly T[],
  limits: TimingLimits,
): T[] {
  const { minDuration, maxDuration, gap, recordingEnd } = limits
  const spaced: T[] = []
  let possible = 0
  let preferredStart = 0
  for (const caption of captions.toSorted((a, b) => a.start - b.start)) {
    const latest = caption.start + Math.floor((caption.end - caption.start) / 2)
    const start = Math.max(caption.start, possible, Math.min(preferredStart, latest))
    possible = start + 1 + gap
    preferredStart = start + Math.min(caption.end - start, READABLE_MS + gap)
    spaced.push({ ...caption, start })
  }
  return spaced.map((caption, i) => {
    const { start, end } = caption
    const available = (spaced[i + 1]?.start ?? Number.POSITIVE_INFINITY) - gap
    const spoken = Math.min(end, start + maxDuration)
    const extended = Math.min(start + minDuration, recordingEnd)
    const shown = Math.max(spoken, extended, start + 1)
    return { ...caption, end: Math.min(shown, available) }
  })
}

/** Returns the whole milliseconds of a time in seconds. */
export function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000)
}
