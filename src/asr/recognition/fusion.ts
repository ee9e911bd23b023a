import { mean } from '../../numbers.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { RecognizedSegment } from '../speech-engine.ts'

/**
 * The words that one recognizer found in a piece of audio; times are seconds from the same start.
 */
export type FusionInput = { words: readonly Word[]; model: string }

/**
 * The weight of the share of recognizers that agree; the remainder is the weight of their
 * confidence.
 */
const AGREEMENT_WEIGHT = 0.4
/** The confidence in "nothing was said here". */
const SILENCE_CONFIDENCE = 0.5
/** Costs of the alignment: a pair of different words is cheaper than two words without a pair. */
const SUBSTITUTION_COST = 4
const GAP_COST = 3
/**
 * The cost of each second between the words of a pair, by whether they are equal, and the limit of
 * this cost for equal words.
 */
const EQUAL_COST_PER_SECOND = 0.5
const DIFFERENT_COST_PER_SECOND = 2
const MAX_EQUAL_DISTANCE_COST = 2
/** Maximum words that may match other words with the same letters: "ice cream" and "icecream". */
const MAX_SPLIT_WORDS = 4

/**
 * Joins recognitions of the same piece of audio word by word (ROVER: Fiscus 1997, with
 * confidences): aligns them by text and time and lets them vote on each slot. A reading wins by the
 * share of recognizers that agree on it and their mean confidence; a recognizer that recognized
 * nothing in a slot votes for silence. The best recognizer stands first: it wins ties, and the
 * words that others agree on are written as it writes them, if it writes capitals or punctuation.
 * The confidence of a word is the weight of its votes, from 0 to 1. The work grows with the product
 * of the lengths: meant for segments and utterances.
 */
export function fuseRecognitions(recognitions: readonly FusionInput[]): Word[] {
  const [first, ...others] = recognitions
  if (!first) return []
  if (others.length === 0) return [...first.words]
  let slots: AlignmentSlot[] = first.words.map((word) => [[word]])
  for (const [i, { words }] of others.entries()) slots = addReadings(slots, words, i + 1)
  const hasCasing = recognitions.map(({ words }) => words.some(isWrittenOut))
  const joined = joinRuns(slots, isNumberMismatch)
  return sortByStart(joinRuns(joined, isOneSided).flatMap((slot) => voteWords(slot, hasCasing)))
}

/** Joins the results of two recognizers for the same segments, word by word. */
export function fuseSegments(
  first: readonly RecognizedSegment[],
  second: readonly RecognizedSegment[],
): RecognizedSegment[] {
  return first.map((segment, i) => {
    const otherSegment = second[i]!
    return {
      ...segment,
      words: fuseRecognitions([segment, otherSegment]),
      model: `${segment.model}+${otherSegment.model}`,
      uncovered: Math.min(segment.uncovered, otherSegment.uncovered),
      warnings: [...new Set([...segment.warnings, ...otherSegment.warnings])],
    }
  })
}

/**
 * A slot of the alignment: the words that each recognizer has there, in the order of the
 * recognizers. An empty list is a vote for silence.
 */
type AlignmentSlot = (readonly Word[])[]

/** Aligns the words of one more recognizer with the slots so far. */
function addReadings(
  slots: readonly AlignmentSlot[],
  words: readonly Word[],
  count: number,
): AlignmentSlot[] {
  const steps = align(slots, words)
  const result: AlignmentSlot[] = []
  let [slot, word] = [slots.length, words.length]
  while (slot > 0 || word > 0) {
    const { slots: taken, words: compared } = steps[slot * (words.length + 1) + word]!
    const before = slots.slice(slot - taken, slot)
    const empty = Array.from({ length: count }, (): Word[] => [])
    const merged = empty.map((_, i) => before.flatMap((readings) => readings[i] ?? []))
    result.push([...merged, words.slice(word - compared, word)])
    slot -= taken
    word -= compared
  }
  return result.reverse()
}

/** The number of slots and words that one step of the alignment covers. */
type AlignmentStep = { slots: number; words: number }

/** Returns the cheapest last step for each pair of a number of slots and a number of words. */
function align(slots: readonly AlignmentSlot[], words: readonly Word[]): AlignmentStep[] {
  const width = words.length + 1
  const slotKeys = slots.map((slot) => slot.map((reading) => wordsKey(reading)))
  const wordKeys = words.map((word) => wordsKey([word]))
  const costs = new Float64Array((slots.length + 1) * width).fill(Number.POSITIVE_INFINITY)
  const steps: AlignmentStep[] = []
  costs[0] = 0
  for (let i = 0; i <= slots.length; i++) {
    for (let j = 0; j <= words.length; j++) {
      const at = i * width + j
      const reach = (step: AlignmentStep, cost: number) => {
        const total = costs[at - step.slots * width - step.words]! + cost
        if (total < costs[at]!) [costs[at], steps[at]] = [total, step]
      }
      if (i > 0) reach({ slots: 1, words: 0 }, GAP_COST)
      if (j > 0) reach({ slots: 0, words: 1 }, GAP_COST)
      if (i === 0 || j === 0) continue
      const distance = Math.abs(middleTime(slots[i - 1]!.flat()) - middleTime([words[j - 1]!]))
      const isEqual = slotKeys[i - 1]!.includes(wordKeys[j - 1]!)
      reach(
        { slots: 1, words: 1 },
        isEqual ? equalCost(distance) : SUBSTITUTION_COST + DIFFERENT_COST_PER_SECOND * distance,
      )
      for (const step of equalSplits(slotKeys, wordKeys, { slots: i, words: j }))
        reach(step, equalCost(distance))
    }
  }
  return steps
}

function equalCost(distance: number): number {
  return Math.min(MAX_EQUAL_DISTANCE_COST, EQUAL_COST_PER_SECOND * distance)
}

/**
 * Returns the steps that end at `end` and cover the same letters on both sides, in different
 * numbers of words.
 */
function equalSplits(
  slotKeys: readonly (readonly string[])[],
  wordKeys: readonly string[],
  end: AlignmentStep,
): AlignmentStep[] {
  const path: AlignmentStep[] = []
  const recognizers = slotKeys[0]?.length ?? 0
  const tails = Array.from({ length: recognizers }, () => '')
  for (let slots = 1; slots <= Math.min(MAX_SPLIT_WORDS, end.slots); slots++) {
    for (let i = 0; i < recognizers; i++) tails[i] = slotKeys[end.slots - slots]![i]! + tails[i]!
    let tail = ''
    for (let words = 1; words <= Math.min(MAX_SPLIT_WORDS, end.words); words++) {
      tail = wordKeys[end.words - words]! + tail
      if (slots + words > 2 && tails.includes(tail)) path.push({ slots, words })
    }
  }
  return path
}

/**
 * Joins runs of neighboring slots without agreement where `isOneRun` returns true, so that they are
 * voted on as a whole.
 */
function joinRuns(
  slots: readonly AlignmentSlot[],
  isOneRun: (run: readonly AlignmentSlot[]) => boolean,
): AlignmentSlot[] {
  const result: AlignmentSlot[] = []
  let run: AlignmentSlot[] = []
  const closeRun = () => {
    if (run.length > 1 && isOneRun(run))
      result.push(run[0]!.map((_, i) => run.flatMap((slot) => slot[i]!)))
    else result.push(...run)
    run = []
  }
  for (const slot of slots) {
    const agrees = new Set(slot.map(wordsKey)).size === 1
    if (agrees) closeRun()
    if (agrees) result.push(slot)
    else run.push(slot)
  }
  closeRun()
  return result
}

/**
 * Returns true if only some recognizers wrote digits: for "23" and "twenty three", votes on single
 * words would give "23 three".
 */
function isNumberMismatch(run: readonly AlignmentSlot[]): boolean {
  const hasDigits = run[0]!.map((_, i) => run.some((slot) => /\p{N}/u.test(wordsKey(slot[i]!))))
  return new Set(hasDigits).size > 1
}

/**
 * Returns true if the same recognizers are silent in all slots: a sentence is kept or dropped as a
 * whole.
 */
function isOneSided(run: readonly AlignmentSlot[]): boolean {
  const silent = run.map((slot) => slot.map((reading) => reading.length === 0).join())
  return silent[0]!.includes('true') && new Set(silent).size === 1 && !hasThreeReadings(run)
}

function hasThreeReadings(run: readonly AlignmentSlot[]): boolean {
  return run.some((slot) => new Set(slot.map(wordsKey)).size > 2)
}

/** Returns the words of the reading with the most votes; none when it is silence. */
function voteWords(slot: AlignmentSlot, hasCasing: readonly boolean[]): Word[] {
  const voters = new Map<string, number[]>()
  for (const [i, reading] of slot.entries()) {
    const key = wordsKey(reading)
    voters.set(key, [...(voters.get(key) ?? []), i])
  }
  let [best, max] = [[] as number[], -1]
  for (const agreeing of voters.values()) {
    const confidence = mean(agreeing.map((i) => readingConfidence(slot[i]!)))
    const weight = weightOf(agreeing.length / slot.length, confidence)
    if (weight > max) [best, max] = [agreeing, weight]
  }
  const share = best.length / slot.length
  const written = slot[best.find((i) => hasCasing[i]) ?? best[0]!]!
  return written.map((word, i) => {
    const readings = best.map((j) => slot[j]!)
    const sameLength = readings.every((reading) => reading.length === written.length)
    const confidence = mean(
      readings.map((reading) => (sameLength ? reading[i]!.confidence : readingConfidence(reading))),
    )
    return { ...word, confidence: weightOf(share, confidence) }
  })
}

function weightOf(share: number, confidence: number): number {
  return AGREEMENT_WEIGHT * share + (1 - AGREEMENT_WEIGHT) * confidence
}

function readingConfidence(reading: readonly Word[]): number {
  if (reading.length === 0) return SILENCE_CONFIDENCE
  return mean(reading.map(({ confidence }) => confidence))
}

/** Makes starts ascend: words that overlap are cut in the middle of the overlap. */
function sortByStart(words: readonly Word[]): Word[] {
  const result: Word[] = []
  for (const word of words) {
    const previous = result.at(-1)
    if (!previous || word.start >= previous.end) {
      result.push(word)
      continue
    }
    const middle = (previous.end + word.start) / 2
    const start = Math.min(Math.max(middle, previous.start), previous.end)
    previous.end = start
    result.push({ ...word, start, end: Math.max(start, word.end) })
  }
  return result
}

/**
 * Returns the key by which words are compared: letters and digits, without case, punctuation and
 * spaces.
 */
function wordsKey(words: readonly Word[]): string {
  const text = words.map((word) => word.text).join('')
  const key = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]/gu, '')
  return key === '' ? text : key
}

function isWrittenOut({ text }: Word): boolean {
  return /\p{Lu}|\p{P}$/u.test(text)
}

function middleTime(words: readonly Word[]): number {
  return mean(words.map(({ start, end }) => (start + end) / 2))
}
