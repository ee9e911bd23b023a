/** When a caption shows. Whole milliseconds. */
export type Showing = { start: number; end: number }

/** All in milliseconds. */
export type TimingLimits = { minDuration: number; maxDuration: number; gap: number }

/** A caption that another cuts short stays at least as long as a word or two takes to read. */
const READABLE_MS = 1000

/**
 * Puts captions in the order of their starts, so that one ends at least `gap` before the next starts, and shows
 * each at least `minDuration` where the next allows. Where several speak at once, a caption ends as the next
 * starts. If that leaves it less than a second, the next one waits for it, but at most half the time that its own
 * words take: captions never run away from the sound. Every caption shows for at least a millisecond.
 */
export function spaceCaptions<T extends Showing>(
  captions: readonly T[],
  limits: TimingLimits,
): T[] {
  const { minDuration, maxDuration, gap } = limits
  const spaced: T[] = []
  let possible = 0
  let wanted = 0
  for (const caption of captions.toSorted((a, b) => a.start - b.start)) {
    const latest = caption.start + Math.floor((caption.end - caption.start) / 2)
    const start = Math.max(caption.start, possible, Math.min(wanted, latest))
    possible = start + 1 + gap
    wanted = start + Math.min(caption.end - start, READABLE_MS + gap)
    spaced.push({ ...caption, start })
  }
  return spaced.map((caption, i) => {
    const { start, end } = caption
    const room = (spaced[i + 1]?.start ?? Number.POSITIVE_INFINITY) - gap
    const spoken = Math.min(end, start + maxDuration)
    const shown = Math.max(spoken, start + minDuration, start + 1)
    return { ...caption, end: Math.min(shown, room) }
  })
}
