import { mayContainPauses } from '../../segmentation/pauses.ts'
import { isTooShort, MIN_WORD_SECONDS } from './implausible-words.ts'

/** Seconds per loudness value. */
const HOP = 0.01
/** Loudness above the quietest twentieth that counts as non-silent, in decibels. */
const ABOVE_FLOOR = 8
/** Loudness below the peak of the word that still counts, in decibels. */
const BELOW_PEAK = 33
/** A silence this long within a word is a pause that attention missed. */
const PAUSE = 0.12
/** A word begins a little before it is loud. */
const ONSET = 0.02
/**
 * A word ends this long after its sound, where that ends at most so long after attention left it.
 */
const RELEASE = 0.01
const MAX_TAIL = 0.2
/** A first or last burst shorter than this share of the longest belongs to another word. */
const STRAY_BURST_SHARE = 0.3
/** The minimum distance between the starts of two words, and the minimum length, in seconds. */
const MIN_START_DISTANCE = 0.02

/** A time span, in seconds. */
export type TimeSpan = { start: number; end: number }

/** Returns the loudness of 16 kHz audio in decibels, one value per 10 ms. */
export function energyLevels(audio: Float32Array): Float32Array {
  const hop = Math.round(HOP * 16_000)
  const values = new Float32Array(Math.ceil(audio.length / hop))
  for (const i of values.keys()) {
    const part = audio.subarray(i * hop, (i + 1) * hop)
    let energy = 0
    for (const sample of part) energy += sample * sample
    values[i] = 10 * Math.log10(energy / hop + 1e-10)
  }
  return values
}

/**
 * Moves the edges of words to where the energy rises and falls: attention is accurate to a few 24
 * ms frames but includes silence in words. `spans` ascend, in seconds; so do the results, and they
 * never overlap. `delay` is how late the attention of the model is, and `seconds` the length of the
 * audio, in which words end. The constants were tuned on forced-aligned read speech.
 */
export function alignToEnergy<W extends TimeSpan & { text: string }>(
  spans: readonly W[],
  db: Float32Array,
  { delay = 0, seconds = db.length * HOP } = {},
): W[] {
  const floor = quantile(db, 0.05) + ABOVE_FLOOR
  const snapped: W[] = []
  for (const span of spans) {
    const previous = snapped.at(-1)
    const earliest = previous ? previous.start + MIN_START_DISTANCE : 0
    const latest = Math.max(span.start, seconds - MIN_WORD_SECONDS)
    const start = Math.max(earliest, Math.min(latest, span.start - delay))
    const range = { start, end: Math.max(start, Math.min(seconds, span.end - delay)) }
    const choose = burstChoice(span.text)
    const word = { ...span, ...snap(range, { db, floor, seconds, choose }) }
    if (previous) previous.end = Math.min(previous.end, word.start)
    snapped.push(word)
  }
  return snapped
}

type Loudness = { db: Float32Array; floor: number; seconds: number }
type BurstChoice = (bursts: readonly Burst[]) => Burst | undefined

function snap(
  { start, end }: TimeSpan,
  { db, floor, seconds, choose }: Loudness & { choose: BurstChoice },
): TimeSpan {
  const from = Math.max(0, Math.round(start / HOP))
  const to = Math.min(db.length, Math.max(from + 1, Math.round(end / HOP)))
  let peak = Number.NEGATIVE_INFINITY
  for (let i = from; i < to; i++) peak = Math.max(peak, db[i]!)
  const threshold = Math.max(floor, peak - BELOW_PEAK)
  const burst = choose(findBursts(db, { from, to }, threshold))
  if (!burst) return { start, end }
  const onset = Math.max(start, burst.from * HOP - ONSET)
  // The length shows which words attention found no place for.
  const latest = isTooShort({ start, end }) ? end : Math.min(seconds, end + MAX_TAIL)
  let last = burst.to
  while (last < db.length && db[last]! >= threshold) last++
  // Sound that goes on for longer belongs to another word, or is noise.
  const soundEnd = last * HOP + RELEASE
  const ownEnd = soundEnd <= latest ? soundEnd : Math.min(burst.to * HOP, end)
  return { start: onset, end: Math.max(onset, ownEnd) }
}

type Burst = { from: number; to: number }

/** Finds the bursts of energy in a word, separated by silences longer than `PAUSE`. */
function findBursts(db: Float32Array, { from, to }: Burst, threshold: number): Burst[] {
  const bursts: Burst[] = []
  for (let i = from; i < to; i++) {
    if (db[i]! < threshold) continue
    const last = bursts.at(-1)
    if (last && (i - last.to) * HOP <= PAUSE) last.to = i + 1
    else bursts.push({ from: i, to: i + 1 })
  }
  return bursts
}

/** Returns how to choose what is the word of the bursts in its span. */
function burstChoice(text: string): BurstChoice {
  return mayContainPauses(text) ? joinBursts : chooseBurst
}

/** Returns all bursts as one, without stray ones at the edges. */
function joinBursts(bursts: readonly Burst[]): Burst | undefined {
  const longest = Math.max(...bursts.map(lengthOf))
  const own = bursts.filter((burst) => lengthOf(burst) >= STRAY_BURST_SHARE * longest)
  return own.length > 0 ? { from: own[0]!.from, to: own.at(-1)!.to } : undefined
}

/**
 * Returns the last burst, which is the word, while those before it are the tail of the previous
 * word; unless the last one is a stray burst.
 */
function chooseBurst(bursts: readonly Burst[]): Burst | undefined {
  const last = bursts.at(-1)
  if (!last) return undefined
  const longest = bursts.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a))
  return lengthOf(last) >= STRAY_BURST_SHARE * lengthOf(longest) ? last : longest
}

function lengthOf({ from, to }: Burst): number {
  return to - from
}

function quantile(values: Float32Array, fraction: number): number {
  return values.toSorted()[Math.floor(fraction * (values.length - 1))] ?? Number.NEGATIVE_INFINITY
}
