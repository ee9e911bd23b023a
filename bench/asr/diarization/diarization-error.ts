import { comparableWords, wordErrors } from '../../../test/support/asr/word-errors.ts'
import { assign } from './assignment.ts'

/** A turn of a speaker, in seconds. */
export type SpeakerTurn = { start: number; end: number; speaker: string }

/**
 * Seconds of speech, and how many of them are missed, invented or assigned to another speaker.
 * Overlapping speech counts once per speaker; `missedOverlap` is the part of `missed` in which
 * another speaker was found.
 */
export type DiarizationError = {
  speech: number
  missed: number
  invented: number
  confused: number
  missedOverlap: number
}

/** Turns are compared in steps of this, in seconds. */
const STEP = 0.01

/**
 * Returns the diarization error with the best pairing of speakers, as NIST defines it (RT-09
 * evaluation plan). `collar` seconds around each boundary of the reference do not count.
 */
export function diarizationError(
  reference: readonly SpeakerTurn[],
  found: readonly SpeakerTurn[],
  { collar }: { collar: number },
): DiarizationError {
  const end = Math.max(0, ...[...reference, ...found].map((turn) => turn.end))
  const [labels, hypothesis] = [label(reference, end), label(found, end)]
  const counted = new Uint8Array(Math.ceil(end / STEP)).fill(1)
  for (const { start, end } of collar > 0 ? reference : []) {
    for (const edge of [start, end]) {
      const from = Math.max(0, Math.round((edge - collar) / STEP))
      counted.fill(0, from, Math.round((edge + collar) / STEP))
    }
  }
  const shared = (a: Uint8Array, b: Uint8Array) => {
    return counted.reduce((sum, on, t) => sum + (on && a[t] && b[t] ? 1 : 0), 0)
  }
  const right = bestTotal(labels.map((a) => hypothesis.map((b) => shared(a, b))))
  let [speech, both, missed, missedOverlap, total] = [0, 0, 0, 0, 0]
  for (const [t, on] of counted.entries()) {
    if (!on) continue
    const [speakers, answers] = [countAt(labels, t), countAt(hypothesis, t)]
    speech += speakers
    total += answers
    both += Math.min(speakers, answers)
    missed += Math.max(0, speakers - answers)
    if (answers > 0) missedOverlap += Math.max(0, speakers - answers)
  }
  const inSeconds = {
    speech,
    missed,
    invented: total - both,
    confused: both - right,
    missedOverlap,
  }
  for (const key of Object.keys(inSeconds) as (keyof typeof inSeconds)[]) inSeconds[key] *= STEP
  return inSeconds
}

function label(turns: readonly SpeakerTurn[], end: number): Uint8Array[] {
  const activities = new Map<string, Uint8Array>()
  for (const { start, end: to, speaker } of turns) {
    const activity = activities.get(speaker) ?? new Uint8Array(Math.ceil(end / STEP))
    activities.set(speaker, activity.fill(1, Math.round(start / STEP), Math.round(to / STEP)))
  }
  return [...activities.values()]
}

function countAt(activities: readonly Uint8Array[], t: number): number {
  return activities.reduce((sum, activity) => sum + activity[t]!, 0)
}

/** The largest sum of weights when each row is paired with at most one column. */
function bestTotal(weights: readonly (readonly number[])[]): number {
  const size = Math.max(weights.length, weights[0]?.length ?? 0)
  const costs = Array.from({ length: size }, (_, i) => {
    return Array.from({ length: size }, (_, j) => -(weights[i]?.[j] ?? 0))
  })
  return assign(costs).reduce((sum, j, i) => sum - costs[i]![j]!, 0)
}

/** The text of each speaker, by name. */
export type SpokenText = ReadonlyMap<string, string>

/**
 * Returns the word errors including speaker errors (cpWER: Watanabe et al., CHiME-6, 2020): the
 * texts of both sides are paired at the fewest errors; a speaker without a partner is missed or
 * invented as a whole.
 */
export function speakerWordErrors(reference: SpokenText, found: SpokenText) {
  const [references, hypotheses] = [[...reference.values()], [...found.values()]]
  const size = Math.max(references.length, hypotheses.length)
  const costs = Array.from({ length: size }, (_, i) => {
    return Array.from(
      { length: size },
      (_, j) => wordErrors(references[i] ?? '', hypotheses[j] ?? '').errors,
    )
  })
  const errors = assign(costs).reduce((sum, j, i) => sum + costs[i]![j]!, 0)
  const words = references.reduce((sum, text) => sum + comparableWords(text).length, 0)
  return { errors, words }
}
