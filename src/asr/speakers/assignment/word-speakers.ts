import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { sum } from '../../../numbers.ts'
import type { Word } from '../../../transcript/transcript.ts'
import { dot, meanDirection } from '../clustering/vectors.ts'
import type { WindowEmbedding } from '../embedding/embedders/embedder.ts'

/**
 * The speakers of the words of one channel: `speakers[i]` is that of word i. `margins[i]` is how
 * much nearer that speaker is than the next one (difference of cosines), or than an unknown speaker
 * where there is no other.
 */
export type WordSpeakers = { speakers: number[]; margins: number[] }

/**
 * Two windows of different speakers have about this cosine: the score that an unknown speaker would
 * have.
 */
const UNKNOWN_SPEAKER_SCORE = 0.2
/** The cost of a speaker change, in seconds × cosine: low at a pause or after a sentence. */
const SPEAKER_CHANGE_COST = 0.15
const EASY_CHANGE = 0.05
/** A pause at which a speaker change is cheap, in seconds. */
const PAUSE = 0.25
/** A word counts for at least this long: the recognizer gives some words no length. */
const MIN_WEIGHT_SECONDS = 0.1
/** Each 10 ms of a word are scored by the windows around them. */
const FRAME_SAMPLES = SAMPLE_RATE / 100
/** Rounds in which the speaker vectors are re-estimated from their words. */
const ROUNDS = 2
/**
 * A window from which a speaker is re-estimated: its length in seconds, and the share of its words
 * that are of that speaker.
 */
const LEARN_SECONDS = 0.8
const LEARN_SHARE = 0.9

type Observations = { windows: readonly WindowEmbedding[]; centroids: readonly Float32Array[] }

/**
 * Assigns each word to a speaker: the sequence of speakers that fits the windows best, where each
 * change has a cost (Viterbi), so that a short word between two of one speaker does not flip. Then
 * re-estimates the speakers from their own words, and assigns the words again. Windows ascend by
 * start, words too.
 */
export function assignWords(
  words: readonly Word[],
  { windows, centroids }: Observations,
): WordSpeakers {
  if (centroids.length === 0) {
    return { speakers: words.map(() => 0), margins: words.map(() => -UNKNOWN_SPEAKER_SCORE) }
  }
  const weights = words.map(weightsIn(windows))
  let current = centroids
  let scores = scoreWords(weights, { windows, centroids: current })
  let path = cheapestPath(words, scores)
  for (let round = 0; round < ROUNDS; round++) {
    current = reestimateCentroids(weights, { windows, centroids: current, path })
    scores = scoreWords(weights, { windows, centroids: current })
    path = cheapestPath(words, scores)
  }
  return {
    speakers: path,
    margins: scores.map((scoresOfWord, i) => marginOf(scoresOfWord, path[i]!)),
  }
}

/**
 * How much each window contributes to a word: its index in the list, and the sum of its triangle
 * over the frames of the word.
 */
type Weight = { window: number; weight: number; frames: number }

function weightsIn(windows: readonly WindowEmbedding[]): (word: Word) => Weight[] {
  const longest = windows.reduce((max, { start, end }) => Math.max(max, end - start), 0)
  let first = 0
  return (word) => {
    const [from, to] = [word.start * SAMPLE_RATE, word.end * SAMPLE_RATE]
    while (first < windows.length && windows[first]!.start + longest < from) first++
    const weights: Weight[] = []
    for (let i = first; i < windows.length && windows[i]!.start < to; i++) {
      const { start, end } = windows[i]!
      const [low, high] = [Math.max(from, start), Math.min(to, end)]
      if (high <= low) continue
      const [middle, half] = [(start + end) / 2, (end - start) / 2]
      const frames = Math.max(1, Math.round((high - low) / FRAME_SAMPLES))
      let weight = 0
      for (let frame = 0; frame < frames; frame++) {
        const at = low + ((frame + 0.5) * (high - low)) / frames
        weight += Math.max(0.01, 1 - Math.abs(at - middle) / half)
      }
      weights.push({ window: i, weight, frames })
    }
    return weights
  }
}

/** Returns the cosine of each word with each speaker; 0 for all where no window lies. */
function scoreWords(
  weights: readonly Weight[][],
  { windows, centroids }: Observations,
): Float64Array[] {
  const cosines = windows.map(({ embedding }) =>
    centroids.map((centroid) => dot(embedding, centroid)),
  )
  return weights.map((contributions) => {
    const total = contributions.reduce((sum, { weight }) => sum + weight, 0)
    return Float64Array.from(centroids, (_, k) => {
      return contributions.reduce(
        (sum, { window, weight }) => sum + (weight / total) * cosines[window]![k]!,
        0,
      )
    })
  })
}

function cheapestPath(words: readonly Word[], scores: readonly Float64Array[]): number[] {
  const backpointers: Int32Array[] = []
  let reached = new Float64Array(scores[0]?.length ?? 0)
  for (const [i, score] of scores.entries()) {
    const best = indexOfLargest(reached)
    const changed = reached[best]! - (i > 0 ? changeCost(words[i - 1]!, words[i]!) : 0)
    const seconds = Math.max(MIN_WEIGHT_SECONDS, words[i]!.end - words[i]!.start)
    backpointers.push(Int32Array.from(reached, (stayed, k) => (changed > stayed ? best : k)))
    reached = reached.map((stayed, k) => Math.max(stayed, changed) + score[k]! * seconds)
  }
  const path = [indexOfLargest(reached)]
  for (let i = scores.length - 1; i > 0; i--) path.push(backpointers[i]![path.at(-1)!]!)
  return scores.length > 0 ? path.reverse() : []
}

function changeCost(before: Word, after: Word): number {
  const easy = after.start - before.end >= PAUSE || /[.!?…]["'”’)]?$/.test(before.text)
  return easy ? EASY_CHANGE : SPEAKER_CHANGE_COST
}

function indexOfLargest(values: Float64Array): number {
  let best = 0
  for (let k = 1; k < values.length; k++) if (values[k]! > values[best]!) best = k
  return best
}

/**
 * Re-estimates the speaker vectors from the windows that hold hardly anything else; a speaker
 * without such windows stays as it is.
 */
function reestimateCentroids(
  weights: readonly Weight[][],
  { windows, centroids, path }: Observations & { path: readonly number[] },
): Float32Array[] {
  const framesBySpeaker = windows.map(() => new Float64Array(centroids.length))
  for (const [i, contributions] of weights.entries()) {
    for (const { window, frames } of contributions) framesBySpeaker[window]![path[i]!]! += frames
  }
  const learned: { vectors: Float32Array[]; weights: number[] }[] = centroids.map(() => ({
    vectors: [],
    weights: [],
  }))
  for (const [t, { start, end, embedding }] of windows.entries()) {
    if (end - start < LEARN_SECONDS * SAMPLE_RATE) continue
    const speaker = indexOfLargest(framesBySpeaker[t]!)
    const total = sum(framesBySpeaker[t]!)
    if (total === 0 || framesBySpeaker[t]![speaker]! < LEARN_SHARE * total) continue
    learned[speaker]!.vectors.push(embedding)
    learned[speaker]!.weights.push(end - start)
  }
  return centroids.map((centroid, k) => {
    const { vectors, weights } = learned[k]!
    return vectors.length > 0 ? meanDirection(vectors, weights) : centroid
  })
}

function marginOf(scores: Float64Array, speaker: number): number {
  const otherScores = scores.filter((_, k) => k !== speaker)
  return scores[speaker]! - otherScores.reduce((max, x) => Math.max(max, x), UNKNOWN_SPEAKER_SCORE)
}
