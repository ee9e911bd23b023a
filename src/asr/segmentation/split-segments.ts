import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Segment } from '../engines/recognizer.ts'
import { findPauses, omittedSamples, type Range } from './pauses.ts'
import { VAD_FRAME } from './vad-frames.ts'

/**
 * The detection of each frame of `VAD_FRAME` samples: the probability of speech, and 1 where noise
 * may hide speech, else 0 (`findNoise`).
 */
export type DetectedSpeech = { probabilities: Float32Array; noisy: Uint8Array }

/** When speech begins and ends; all times in seconds. */
type SpeechBounds = {
  /** A frame above this begins speech; frames below `offset` for `minSilence` end it. */
  onset: number
  offset: number
  minSilence: number
  padBefore: number
  padAfter: number
}

/** How speech probabilities become segments; all times in seconds. */
export type SegmentOptions = SpeechBounds & {
  /**
   * The bounds in noise. There, VAD misses parts of sentences, and the recognizer needs whole
   * sentences.
   */
  inNoise: SpeechBounds
  /** Longest segment; see `RecognizerCapabilities`. */
  maxSeconds: number
  /** Speech with fewer voiced seconds than this is a click. */
  minSpeech: number
}

/** The values that suit any recognizer, tuned on recordings with reference transcripts. */
export const fileSegments: Omit<SegmentOptions, 'maxSeconds'> = {
  onset: 0.5,
  offset: 0.35,
  minSilence: 0.5,
  padBefore: 0.15,
  padAfter: 0.2,
  inNoise: { onset: 0.3, offset: 0.15, minSilence: 1, padBefore: 0.4, padAfter: 0.5 },
  minSpeech: 0.1,
}

/** Speech between pauses that is no longer than this, in seconds, is a fragment. */
const MAX_FRAGMENT_SECONDS = 1.2
/** Fragments with a longer pause between them, in seconds, do not belong together. */
const MAX_FRAGMENT_PAUSE = 4
/** Maximum seconds of speech in joined fragments. */
const MAX_JOINED_SECONDS = 8
/** A region with fewer seconds of speech is recognized with the one beside it. */
const SHORT_REGION_SECONDS = 1.5
/** Maximum seconds between a short region and the one that it is recognized with. */
const MAX_ATTACHED_PAUSE = 1

/** A range of frames with speech, and the pauses between the fragments in it. */
type SpeechRegion = { from: number; to: number; pauses?: Range[] }

/**
 * Turns the speech of a whole recording into segments: speech ends at a pause, and longer speech is
 * cut at its quietest point. Fragments, such as digits with pauses between them, are joined, and
 * short speech is joined with the speech beside it. Segments ascend and do not overlap; where
 * paddings would meet, they share the gap.
 */
export function splitSegments(
  { probabilities, noisy }: DetectedSpeech,
  samples: number,
  options: SegmentOptions,
): Segment[] {
  const speechRegions = findSpeechRegions({ probabilities, noisy }, options).flatMap((region) =>
    cutLongRegion(region, { probabilities, noisy }, options),
  )
  const regions = joinFragments(speechRegions, { probabilities, noisy }, options)
  return regions.map(({ from, to, pauses = [] }, i) => {
    const previous = regions[i - 1]
    const next = regions[i + 1]
    const before = previous ? (from - previous.to) / 2 : from
    const after = next ? (next.from - to) / 2 : probabilities.length - to
    const { padBefore } = boundsAt(noisy[from], options)
    const { padAfter } = boundsAt(noisy[to - 1], options)
    return {
      start: Math.round((from - Math.min(toFrames(padBefore), before)) * VAD_FRAME),
      end: Math.min(samples, Math.round((to + Math.min(toFrames(padAfter), after)) * VAD_FRAME)),
      ...(pauses.length > 0 && { pauses: omittedSamples(pauses) }),
    }
  })
}

function toFrames(seconds: number): number {
  return (seconds * SAMPLE_RATE) / VAD_FRAME
}

function boundsAt(noisy: number | undefined, options: SegmentOptions): SpeechBounds {
  return noisy ? options.inNoise : options
}

/** Finds ranges of frames with speech, by hysteresis. */
function findSpeechRegions(
  { probabilities, noisy }: DetectedSpeech,
  options: SegmentOptions,
): SpeechRegion[] {
  const regions: SpeechRegion[] = []
  let open: SpeechRegion | undefined
  let voiced = 0
  const close = () => {
    if (open && voiced >= toFrames(options.minSpeech)) regions.push(open)
    open = undefined
    voiced = 0
  }
  for (let frame = 0; frame < probabilities.length; frame++) {
    const probability = probabilities[frame]!
    const { onset, offset, minSilence } = boundsAt(noisy[frame], options)
    if (!open && probability >= onset) open = { from: frame, to: frame + 1 }
    if (!open) continue
    if (probability >= offset) open.to = frame + 1
    if (probability >= onset) voiced++
    if (frame + 1 - open.to >= toFrames(minSilence)) close()
  }
  close()
  return regions
}

/** A region, the pauses in it if it consists of fragments, and its frames of speech. */
type SpokenRegion = SpeechRegion & { spoken: number }

/**
 * Joins regions that consist of fragments, as long as a segment may be. The segments of a row of
 * fragments are about equally long, since the last fragment alone would be hard to recognize.
 */
function joinFragments(
  regions: readonly SpeechRegion[],
  { probabilities, noisy }: DetectedSpeech,
  { maxSeconds, padBefore, padAfter }: SegmentOptions,
): SpeechRegion[] {
  const longest = toFrames(maxSeconds - padBefore - padAfter)
  const rows: SpokenRegion[][] = []
  for (const { from, to } of regions) {
    // In noise the detector misses speech, so a pause may be speech.
    const isNoisy = noisy[from] || noisy[to - 1]
    const { pauses, spoken }: Fragments = isNoisy
      ? { spoken: to - from }
      : findFragments({ from, to }, probabilities)
    const region = { from, to, spoken, ...(pauses && { pauses }) }
    const row = rows.at(-1)
    const last = row?.at(-1)
    const continuesRow = last?.pauses && pauses && from - last.to <= toFrames(MAX_FRAGMENT_PAUSE)
    if (row && continuesRow) row.push(region)
    else rows.push([region])
  }
  return attachShortRegions(
    rows.flatMap((row) => joinRow(row, longest)),
    longest,
  )
}

/**
 * Joins a short region with the one before it, or after it, if the pause between them is short: the
 * recognizer takes "Ask not." alone for "As not.". Rows of fragments stay as they are.
 */
function attachShortRegions(regions: readonly SpokenRegion[], longest: number): SpeechRegion[] {
  const attached: SpokenRegion[] = []
  const isShort = ({ spoken }: SpokenRegion) => spoken < toFrames(SHORT_REGION_SECONDS)
  const isRow = ({ pauses }: SpokenRegion) => pauses !== undefined && pauses.length > 0
  for (const region of regions) {
    const last = attached.at(-1)
    if (
      last &&
      (isShort(last) || isShort(region)) &&
      !isRow(last) &&
      !isRow(region) &&
      region.from - last.to <= toFrames(MAX_ATTACHED_PAUSE) &&
      region.to - last.from <= longest
    ) {
      attached[attached.length - 1] = {
        from: last.from,
        to: region.to,
        spoken: last.spoken + region.spoken,
      }
    } else {
      attached.push(region)
    }
  }
  return attached
}

/** Joins the regions of a row of fragments to as few segments as possible, about equally long. */
function joinRow(row: readonly SpokenRegion[], longest: number): SpokenRegion[] {
  const longestSpoken = toFrames(MAX_JOINED_SECONDS)
  const total = row.reduce((sum, { spoken }) => sum + spoken, 0)
  const length = row.at(-1)!.to - row[0]!.from
  const min = Math.ceil(Math.max(total / longestSpoken, length / longest))
  for (let count = min; ; count++) {
    const joined = joinInShares(row, { share: total / count, longestSpoken, longest })
    // More segments than planned would leave little for the last one.
    if (joined.length <= count) return joined
  }
}

/** Joins regions to segments that have about a share of the speech each; both maxima are strict. */
function joinInShares(
  row: readonly SpokenRegion[],
  { share, longestSpoken, longest }: { share: number; longestSpoken: number; longest: number },
): SpokenRegion[] {
  const joined: SpokenRegion[] = []
  let before = 0
  for (const region of row) {
    const last = joined.at(-1)
    const isNextShare = before + region.spoken / 2 >= joined.length * share
    before += region.spoken
    if (
      last?.pauses &&
      region.pauses &&
      !isNextShare &&
      last.spoken + region.spoken <= longestSpoken &&
      region.to - last.from <= longest
    ) {
      const pauses = [...last.pauses, { start: last.to, end: region.from }, ...region.pauses]
      const spoken = last.spoken + region.spoken
      joined[joined.length - 1] = { from: last.from, to: region.to, spoken, pauses }
    } else {
      joined.push(region)
    }
  }
  return joined
}

/**
 * The pauses of a region and its frames of speech; `pauses` is absent if a part is longer than a
 * fragment.
 */
type Fragments = { pauses?: Range[]; spoken: number }

function findFragments({ from, to }: SpeechRegion, probabilities: Float32Array): Fragments {
  const pauses = findPauses(probabilities, { start: from, end: to })
  const spoken = pauses.reduce((sum, { start, end }) => sum - (end - start), to - from)
  return isInFragments({ start: from, end: to }, pauses) ? { pauses, spoken } : { spoken }
}

/** Returns whether speech, in frames, consists of fragments between pauses. */
export function isInFragments({ start, end }: Range, pauses: readonly Range[]): boolean {
  const edges = [start, ...pauses.flatMap((pause) => [pause.start, pause.end]), end]
  const longest = toFrames(MAX_FRAGMENT_SECONDS)
  return edges.every((edge, i) => i % 2 === 1 || edges[i + 1]! - edge <= longest)
}

/**
 * Cuts a range that is too long where the speech probability is lowest; each part leaves space for
 * its padding.
 */
function cutLongRegion(
  region: SpeechRegion,
  speech: DetectedSpeech,
  options: SegmentOptions,
): SpeechRegion[] {
  const { padBefore } = boundsAt(speech.noisy[region.from], options)
  const { padAfter } = boundsAt(speech.noisy[region.to - 1], options)
  const longest = Math.floor(toFrames(options.maxSeconds - padBefore - padAfter))
  if (region.to - region.from <= longest) return [region]
  const length = region.to - region.from
  const parts = Math.ceil(length / longest)
  const aim = region.from + length / parts
  const earliest = region.from + Math.floor(longest / 3)
  const latest = Math.min(region.from + longest, region.to - 1)
  let cut = latest
  let best = Number.POSITIVE_INFINITY
  for (let frame = earliest; frame <= latest; frame++) {
    const score =
      speechAround(speech.probabilities, frame) + (0.2 * Math.abs(frame - aim)) / longest
    if (score < best) [cut, best] = [frame, score]
  }
  const remainingRegions = cutLongRegion({ from: cut, to: region.to }, speech, options)
  return [{ from: region.from, to: cut }, ...remainingRegions]
}

/** Returns the mean speech probability of five frames around `frame` (160 ms). */
function speechAround(probabilities: Float32Array, frame: number): number {
  let sum = 0
  for (let i = frame - 2; i <= frame + 2; i++) sum += probabilities[i] ?? 0
  return sum / 5
}
