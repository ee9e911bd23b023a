import type { Utterance } from '../../../transcript/transcript.ts'
import { breakLines } from './break-lines.ts'
import { breakPenalty, type TextChunk } from './break-penalty.ts'
import { splitChunks } from './caption-chunks.ts'
import { spaceCaptions, toMilliseconds } from './timing.ts'
import { countColumns } from './width.ts'

/**
 * One subtitle: the rows on the screen from `start` to `end`. Times are seconds, in whole
 * milliseconds.
 */
export type Caption = {
  start: number
  end: number
  rows: string[]
  /** The speaker or channel of the words, such as `Speaker 1`, if it is shown. */
  voice?: string
}

/** The limits of one caption. Durations are seconds; a wide character counts as two. */
export type CaptionLimits = {
  /** A shorter caption is extended, up to the next one or to the end of the recording. */
  minDuration: number
  maxDuration: number
  maxCharactersPerRow: number
  maxRows: number
  /** The shortest gap between two captions. */
  minGap: number
  /**
   * Longer words are split. A word that is longer than a row, but not than this, has its own row.
   */
  maxWordColumns: number
  /** The end of the recording, in seconds. */
  recordingEnd: number
}

/** Two rows of 42 characters, seven seconds. */
export const DEFAULT_LIMITS: CaptionLimits = {
  minDuration: 0,
  maxDuration: 7,
  maxCharactersPerRow: 42,
  maxRows: 2,
  minGap: 0,
  maxWordColumns: Number.POSITIVE_INFINITY,
  recordingEnd: Number.POSITIVE_INFINITY,
}

/**
 * Cuts utterances into captions by start, one at a time. Each ends with its utterance or earlier,
 * keeps the limits, and splits only words longer than `maxWordColumns`. A single word beyond a
 * limit stands alone; only its time is shortened. For several speakers at once see `spaceCaptions`.
 * `voiceOf` names whose words an utterance holds.
 */
export function splitCaptions(
  utterances: readonly Utterance[],
  limitOptions: Partial<CaptionLimits> = {},
  voiceOf: (utterance: Utterance) => string | undefined = () => undefined,
): Caption[] {
  const limits = { ...DEFAULT_LIMITS, ...limitOptions }
  const captions = utterances.flatMap((utterance) => {
    return withVoice(cutUtterance(utterance, limits), voiceOf(utterance))
  })
  return adjustTiming(captions, limits).map(({ first: _, ...caption }) => caption)
}

/**
 * Maximum times that captions are cut again: later rounds would change few labels, and might never
 * end.
 */
const MAX_ROUNDS = 5

/**
 * Cuts utterances like `splitCaptions`, with `voiceOf` before the first words of each caption whose
 * voice is not that of the caption before: `Speaker 1: Hello`. Captions of people who talk at once
 * alternate, so that is known only when they are cut; they are then cut again with these labels.
 */
export function cutLabeledCaptions(
  utterances: readonly Utterance[],
  limitOptions: Partial<CaptionLimits>,
  voiceOf: (utterance: Utterance) => string | undefined,
): Caption[] {
  const limits = { ...DEFAULT_LIMITS, ...limitOptions }
  let labeled = utterances.map(() => new Set<number>())
  for (let round = 1; ; round++) {
    const cut = utterances.flatMap((utterance, utteranceIndex) => {
      const voice = voiceOf(utterance)
      const label = voice === undefined ? undefined : { voice, chunks: labeled[utteranceIndex]! }
      return withVoice(cutUtterance(utterance, limits, label), voice).map((caption) => ({
        ...caption,
        utteranceIndex,
      }))
    })
    const captions = adjustTiming(cut, limits)
    const breaksByUtterance = utterances.map(() => new Set<number>())
    for (const [i, { utteranceIndex, first, voice }] of captions.entries()) {
      if (voice !== undefined && voice !== captions[i - 1]?.voice)
        breaksByUtterance[utteranceIndex]!.add(first)
    }
    const isStable = breaksByUtterance.every(
      (voices, utteranceIndex) => voices.symmetricDifference(labeled[utteranceIndex]!).size === 0,
    )
    if (isStable || round === MAX_ROUNDS)
      return captions.map(({ start, end, rows }) => ({ start, end, rows }))
    labeled = breaksByUtterance
  }
}

/** A caption, and the index of its first chunk in the utterance. */
type CutCaption = Caption & { first: number }

function withVoice(captions: readonly CutCaption[], voice: string | undefined): CutCaption[] {
  return captions.map((caption) => ({ ...caption, ...(voice !== undefined && { voice }) }))
}

function adjustTiming<T extends Caption>(captions: readonly T[], limits: CaptionLimits): T[] {
  const timing = {
    minDuration: toMilliseconds(limits.minDuration),
    maxDuration: toMilliseconds(limits.maxDuration),
    gap: toMilliseconds(limits.minGap),
    recordingEnd: toMilliseconds(limits.recordingEnd),
  }
  return spaceCaptions(captions, timing).map((caption) => {
    return { ...caption, start: caption.start / 1000, end: caption.end / 1000 }
  })
}

/**
 * Maximum chunks of a caption: thirty seconds, the longest that a request may set, at ten words a
 * second. It limits the search.
 */
const MAX_CHUNKS = 300

/**
 * The best captions for the chunks before an index: their total penalty, and the first chunk of the
 * last caption.
 */
type Plan = { penalty: number; first: number }

/**
 * Returns the best of all allowed splits: first, the fewest captions; then breaks after punctuation
 * or in a pause; then captions of equal size, so that no word is left alone.
 */
function cutUtterance(
  utterance: Utterance,
  limits: CaptionLimits,
  label?: { voice: string; chunks: ReadonlySet<number> },
): CutCaption[] {
  const width = limits.maxCharactersPerRow
  const chunks = splitChunks(utterance, limits.maxWordColumns).map((chunk, i) => {
    return label?.chunks.has(i) ? withLabel(chunk, label.voice) : chunk
  })
  const plans: Plan[] = [{ penalty: 0, first: 0 }]
  for (let end = 1; end <= chunks.length; end++) {
    let best: Plan = { penalty: Number.POSITIVE_INFINITY, first: end - 1 }
    for (const { first, columns } of captionsBefore(end, { chunks, limits })) {
      const fill = columns / (width * limits.maxRows)
      const broken = breakPenalty(chunks[end - 1]!, chunks[end])
      const penalty = plans[first]!.penalty + 1 + broken + 0.5 * fill ** 2
      if (penalty < best.penalty) best = { penalty, first }
    }
    plans.push(best)
  }
  return readPlan(plans).map(({ first, end }) => {
    const captionChunks = chunks.slice(first, end)
    return {
      first,
      start: captionChunks[0]!.start,
      end: captionChunks.at(-1)!.end,
      rows: breakLines(captionChunks, width),
    }
  })
}

function withLabel(chunk: TextChunk, voice: string): TextChunk {
  const text = `${voice}: ${chunk.text}`
  return { ...chunk, text, columns: countColumns(text) }
}

/**
 * Yields every caption that may end before chunk `end`, the shortest first: its first chunk, and
 * the columns of its text.
 */
function* captionsBefore(
  end: number,
  { chunks, limits }: { chunks: readonly TextChunk[]; limits: CaptionLimits },
): Generator<{ first: number; columns: number }> {
  const last = chunks[end - 1]!
  const width = limits.maxCharactersPerRow
  let columns = last.columns
  yield { first: end - 1, columns }
  // Rows are filled from the last one up, which takes as many as from the first one down. The first
  // broken limit ends the search.
  let rows = 1
  let row = last.columns
  const earliest = last.columns > width ? end - 1 : Math.max(0, end - MAX_CHUNKS)
  for (let first = end - 2; first >= earliest; first--) {
    const chunk = chunks[first]!
    const space = chunks[first + 1]!.space.length
    columns += chunk.columns + space
    row += chunk.columns + space
    if (row > width) {
      row = chunk.columns
      rows++
    }
    if (rows > limits.maxRows || chunk.columns > width) return
    if (last.end - chunk.start > toMilliseconds(limits.maxDuration)) return
    yield { first, columns }
  }
}

function readPlan(plans: readonly Plan[]): { first: number; end: number }[] {
  const cuts: { first: number; end: number }[] = []
  for (let end = plans.length - 1; end > 0; end = plans[end]!.first) {
    cuts.push({ first: plans[end]!.first, end })
  }
  return cuts.reverse()
}
