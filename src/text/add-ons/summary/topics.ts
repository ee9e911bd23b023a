import type { Sentence } from '../../words/sentences/sentences.ts'
import { announcesTopic } from './cues.ts'
import { cosine, type Vector, vectorsOf } from './lexrank.ts'
import { stemmedTerms } from './terms.ts'

/** Sentences on each side of a place that are compared. */
const BLOCK = 10
/** A topic has at least these seconds and sentences. */
const MIN_SECONDS = 45
const MIN_SENTENCES = 4
/** Long recordings have longer topics: a list of a hundred would not be read. */
const MAX_TOPICS = 24
/** What a sentence that announces a topic counts, beside similarity from 0 to 1. */
const ANNOUNCEMENT = 0.3
/** What a silence of this length counts. */
const PAUSE = { seconds: 5, depth: 0.15 }
/** How far a place must stand out among all, in standard deviations. */
const DEVIATIONS = 0.75

/**
 * Cuts sentences where the topic changes: where the words before have least in common with those
 * after (TextTiling; Hearst, 1997), preferably at a silence or an announcement. The sentences are
 * those of all channels by start. Each is in exactly one topic.
 */
export function splitTopics(sentences: readonly Sentence[]): Sentence[][] {
  if (sentences.length === 0) return []
  const borders = bordersOf(sentences)
  return [0, ...borders].map((from, i) => sentences.slice(from, borders[i]))
}

function bordersOf(sentences: readonly Sentence[]): number[] {
  const first = sentences[0]!.start
  const last = speechEnds(sentences).at(-1)!
  const minDistance = Math.max(MIN_SECONDS, (last - first) / MAX_TOPICS)
  const depths = depthsOf(sentences)
  const definedDepths = depths.slice(1)
  const mean =
    definedDepths.reduce((sum, depth) => sum + depth, 0) / Math.max(1, definedDepths.length)
  const variance = definedDepths.reduce((sum, depth) => sum + (depth - mean) ** 2, 0)
  const min = mean + DEVIATIONS * Math.sqrt(variance / Math.max(1, definedDepths.length))
  const candidates = depths
    .map((depth, at) => ({ depth, at }))
    .filter(({ depth, at }) => at > 0 && depth > 0 && depth >= min)
    .sort((a, b) => b.depth - a.depth || a.at - b.at)
  const borders: number[] = []
  for (const { at } of candidates) {
    const ends = [0, ...borders, sentences.length]
    const isFar = ends.every((other) => {
      const time = other === sentences.length ? last : sentences[other]!.start
      const seconds = Math.abs(time - sentences[at]!.start)
      return seconds >= minDistance && Math.abs(other - at) >= MIN_SENTENCES
    })
    if (isFar) borders.push(at)
  }
  return borders.sort((a, b) => a - b)
}

/** Returns for each place before a sentence how deep similarity falls there; 0 for the first. */
function depthsOf(sentences: readonly Sentence[]): number[] {
  const vectors = vectorsOf(sentences.map(({ text, language }) => stemmedTerms(text, language)))
  const similarities = vectors.map((_, at) => {
    const before = sumOfVectors(vectors.slice(Math.max(0, at - BLOCK), at))
    return cosine(before, sumOfVectors(vectors.slice(at, at + BLOCK)))
  })
  const ends = speechEnds(sentences)
  return similarities.map((similarity, at) => {
    if (at === 0) return 0
    const fall = peakFrom(similarities, at, -1) + peakFrom(similarities, at, 1) - 2 * similarity
    const { text, language, start } = sentences[at]!
    const silence = Math.max(0, start - ends[at - 1]!)
    const pause = Math.min(1, silence / PAUSE.seconds) * PAUSE.depth
    const isAnnounced = language === 'en' && announcesTopic(text)
    return fall + pause + (isAnnounced ? ANNOUNCEMENT : 0)
  })
}

/** Returns the height of the slope that begins at a place: as far as it does not fall again. */
function peakFrom(similarities: readonly number[], at: number, step: 1 | -1): number {
  let highest = similarities[at]!
  // The place before the first sentence has nothing to compare.
  for (let i = at + step; i > 0 && i < similarities.length; i += step) {
    if (similarities[i]! < highest) break
    highest = similarities[i]!
  }
  return highest
}

function sumOfVectors(vectors: readonly Vector[]): Vector {
  const sum = new Map<string, number>()
  for (const vector of vectors) {
    for (const [term, weight] of vector) sum.set(term, (sum.get(term) ?? 0) + weight)
  }
  const length = Math.hypot(...sum.values()) || 1
  return new Map([...sum].map(([term, weight]) => [term, weight / length]))
}

/** Returns for each sentence when all speech up to its end is over. */
function speechEnds(sentences: readonly Sentence[]): number[] {
  let end = 0
  return sentences.map((sentence) => {
    end = Math.max(end, sentence.end)
    return end
  })
}
