import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { Segment } from '../engines/recognizer.ts'
import { VAD_FRAME } from './vad-frames.ts'

/**
 * A silence between words of at least this many seconds is a pause; the closure of a plosive is
 * shorter.
 */
const MIN_PAUSE_SECONDS = 0.25
/** Frames with a lower probability of speech are silent. */
const MIN_SPEECH_PROBABILITY = 0.35
/** Seconds of a pause that stay with the speech before and after it. */
const KEEP_AFTER_SPEECH = 0.1
const KEEP_BEFORE_SPEECH = 0.05
const KEPT_SILENCE = KEEP_AFTER_SPEECH + KEEP_BEFORE_SPEECH

/** A range of samples or frames, end exclusive. */
export type Range = { start: number; end: number }

/** Finds the pauses in a range of speech probabilities, in frames; also those at its edges. */
export function findPauses(probabilities: Float32Array, { start, end }: Range): Range[] {
  const pauses: Range[] = []
  let from = start
  for (let frame = start; frame <= end; frame++) {
    if (frame < end && probabilities[frame]! < MIN_SPEECH_PROBABILITY) continue
    if ((frame - from) * VAD_FRAME >= MIN_PAUSE_SECONDS * SAMPLE_RATE) {
      pauses.push({ start: from, end: frame })
    }
    from = frame + 1
  }
  return pauses
}

/**
 * Converts pauses in frames to the samples to leave out; the edges of a pause stay with the speech.
 */
export function omittedSamples(pauses: readonly Range[]): Range[] {
  const omitted = pauses.map(({ start, end }) => {
    return {
      start: start * VAD_FRAME + (start > 0 ? KEEP_AFTER_SPEECH * SAMPLE_RATE : 0),
      end: end * VAD_FRAME - KEEP_BEFORE_SPEECH * SAMPLE_RATE,
    }
  })
  return omitted.filter(({ start, end }) => start < end)
}

/** Returns the ranges of `fullRange` between the omitted ones. */
export function keptRanges(fullRange: Range, omitted: readonly Range[]): Range[] {
  const starts = [fullRange.start, ...omitted.map(({ end }) => end)]
  const ends = [...omitted.map(({ start }) => start), fullRange.end]
  return starts
    .map((start, i) => ({ start, end: Math.min(fullRange.end, ends[i]!) }))
    .filter(({ start, end }) => end > start)
}

/** Returns the audio of some ranges, joined. */
export function joinRanges(audio: Float32Array, ranges: readonly Range[]): Float32Array {
  const joined = new Float32Array(ranges.reduce((sum, { start, end }) => sum + end - start, 0))
  let at = 0
  for (const { start, end } of ranges) {
    joined.set(audio.subarray(start, end), at)
    at += end - start
  }
  return joined
}

/**
 * Moves words of joined ranges to where they were spoken: each into the range that holds its
 * middle. A number that was dictated with pauses covers each range that it fills by more than the
 * silence that was kept.
 */
export function restoreWordTimes(words: readonly Word[], ranges: readonly Range[]): Word[] {
  let at = 0
  const places = ranges.map(({ start, end }) => {
    const [from, until] = [at / SAMPLE_RATE, (at + end - start) / SAMPLE_RATE]
    const place = { from, until, start: start / SAMPLE_RATE, end: end / SAMPLE_RATE }
    at += end - start
    return place
  })
  return words.map((word) => {
    const middle = (word.start + word.end) / 2
    const place = places.find(({ until }) => middle < until) ?? places.at(-1)!
    const filled = mayContainPauses(word.text)
      ? places.filter(({ from, until }) => {
          return Math.min(word.end, until) - Math.max(word.start, from) > KEPT_SILENCE
        })
      : []
    const [first, last] = [filled[0] ?? place, filled.at(-1) ?? place]
    const shifted = word.start + first.start - first.from
    const start = Math.min(Math.max(shifted, first.start), first.end)
    const end = Math.min(Math.max(start, word.end + last.start - last.from), last.end)
    return { ...word, start, end }
  })
}

/** Returns whether a word is a number of several digits, which may be dictated with pauses. */
export function mayContainPauses(text: string): boolean {
  return /\p{N}\P{L}*\p{N}/u.test(text)
}

/** Returns the pauses of a segment, in samples from its start. */
export function pausesOf({ start: first, pauses = [] }: Segment): Range[] {
  return pauses.map(({ start, end }) => ({ start: start - first, end: end - first }))
}
