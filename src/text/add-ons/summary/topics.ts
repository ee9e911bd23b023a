import { mean } from '../../../numbers.ts'
import type { Sentence } from '../../words/sentences/sentences.ts'
import { announcesTopic } from './cues.ts'
import { cosine, type Vector, vectorsOf } from './lexrank.ts'
import { contentTerms } from './terms.ts'

/** The number of sentences that are compared on each side of a boundary. */
const BLOCK_SENTENCES = 10
/** The minimum length of a topic, in seconds and sentences. */
const MIN_SECONDS = 45
const MIN_SENTENCES = 4
/**
 * Maximum topics. Long recordings have longer topics, because nobody would read a list of a
 * hundred.
 */
const MAX_TOPICS = 24
/** The weight of an announcement of a topic, relative to similarity (0 to 1). */
const ANNOUNCEMENT_DEPTH = 0.3
/** The weight of a silence of at least this length. */
const PAUSE = { seconds: 5, depth: 0.15 }
/** How far the depth of a boundary must exceed the mean, in standard deviations. */
const DEVIATIONS = 0.75

/**
 * Splits sentences where the topic changes: where the words before and after have least in common
 * (TextTiling; Hearst, 1997), preferably at a silence or an announcement. The sentences are those
 * of all channels, ordered by start. Each belongs to one topic.
 */
export function splitTopics(sentences: readonly Sentence[]): Sentence[][] {
  if (sentences.length === 0) return []
  const boundaries = boundariesOf(sentences)
  return [0, ...boundaries].map((from, i) => sentences.slice(from, boundaries[i]))
}

function boundariesOf(sentences: readonly Sentence[]): number[] {
  const first = sentences[0]!.start
  const last = speechEnds(sentences).at(-1)!
  const minDistance = Math.max(MIN_SECONDS, (last - first) / MAX_TOPICS)
  const depths = depthsOf(sentences)
  const definedDepths = depths.slice(1)
  const meanDepth = mean(definedDepths)
  const variance = definedDepths.reduce((sum, depth) => sum + (depth - meanDepth) ** 2, 0)
  const minDepth = meanDepth + DEVIATIONS * Math.sqrt(variance / Math.max(1, definedDepths.length))
  const candidates = depths
    .map((depth, at) => ({ depth, at }))
    .filter(({ depth, at }) => at > 0 && depth > 0 && depth >= minDepth)
    .sort((a, b) => b.depth - a.depth || a.at - b.at)
  const boundaries: number[] = []
  for (const { at } of candidates) {
    const topicLimits = [0, ...boundaries, sentences.length]
    const isFar = topicLimits.every((other) => {
      const time = other === sentences.length ? last : sentences[other]!.start
      const seconds = Math.abs(time - sentences[at]!.start)
      return seconds >= minDistance && Math.abs(other - at) >= MIN_SENTENCES
    })
    if (isFar) boundaries.push(at)
  }
  return boundaries.sort((a, b) => a - b)
}

/**
 * Returns the depth of the boundary before each sentence: how far the similarity falls there from
 * its peaks on both sides, plus the weights of a silence and an announcement. The first sentence
 * has depth 0.
 */
function depthsOf(sentences: readonly Sentence[]): number[] {
  const vectors = vectorsOf(sentences.map(({ text, language }) => contentTerms(text, language)))
  const similarities = vectors.map((_, at) => {
    const before = normalizedSum(vectors.slice(Math.max(0, at - BLOCK_SENTENCES), at))
    return cosine(before, normalizedSum(vectors.slice(at, at + BLOCK_SENTENCES)))
  })
  const speechEnd = speechEnds(sentences)
  return similarities.map((similarity, at) => {
    if (at === 0) return 0
    const fall = peakFrom(similarities, at, -1) + peakFrom(similarities, at, 1) - 2 * similarity
    const { text, language, start } = sentences[at]!
    const silence = Math.max(0, start - speechEnd[at - 1]!)
    const pause = Math.min(1, silence / PAUSE.seconds) * PAUSE.depth
    const isAnnounced = language === 'en' && announcesTopic(text)
    return fall + pause + (isAnnounced ? ANNOUNCEMENT_DEPTH : 0)
  })
}

/**
 * Returns the highest similarity in one direction from a boundary, up to where similarity falls
 * again.
 */
function peakFrom(similarities: readonly number[], at: number, step: 1 | -1): number {
  let highest = similarities[at]!
  // The boundary before the first sentence has no sentences to compare.
  for (let i = at + step; i > 0 && i < similarities.length; i += step) {
    if (similarities[i]! < highest) break
    highest = similarities[i]!
  }
  return highest
}

function normalizedSum(vectors: readonly Vector[]): Vector {
  const sum = new Map<string, number>()
  for (const vector of vectors) {
    for (const [term, weight] of vector) sum.set(term, (sum.get(term) ?? 0) + weight)
  }
  const length = Math.hypot(...sum.values()) || 1
  return new Map([...sum].map(([term, weight]) => [term, weight / length]))
}

/** Returns for each sentence the end of all speech up to it. */
function speechEnds(sentences: readonly Sentence[]): number[] {
  let end = 0
  return sentences.map((sentence) => {
    end = Math.max(end, sentence.end)
    return end
  })
}
