import { sum } from '../../../numbers.ts'

/** The weights of the terms of one sentence, normalized to length 1. */
export type Vector = ReadonlyMap<string, number>

/** The neighbors of each sentence, by index, with their similarity. */
export type SimilarityGraph = readonly ReadonlyMap<number, number>[]

/** With a lower cosine, two sentences share a word only by chance; the value of the paper. */
const MIN_SIMILARITY = 0.1
/**
 * The probability of following a similarity instead of jumping anywhere; the value of the paper.
 */
const DAMPING = 0.85
const ROUNDS = 40
/**
 * A word in a larger share of the sentences is treated as a stop word, for languages without a
 * list.
 */
const MAX_SHARE = 0.2
/** With fewer sentences, the frequency of a word is not known well enough. */
const MIN_SENTENCES = 30

/**
 * Returns TF-IDF vectors of sentences given as their terms. One without rare terms gets an empty
 * vector.
 */
export function vectorsOf(sentences: readonly (readonly string[])[]): Vector[] {
  const frequency = new Map<string, number>()
  for (const terms of sentences) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  }
  const max =
    sentences.length < MIN_SENTENCES ? Number.POSITIVE_INFINITY : MAX_SHARE * sentences.length
  return sentences.map((terms) => {
    const weights = new Map<string, number>()
    for (const term of terms) {
      if (frequency.get(term)! > max) continue
      const idf = Math.log(1 + sentences.length / frequency.get(term)!)
      weights.set(term, (weights.get(term) ?? 0) + idf)
    }
    const length = Math.hypot(...weights.values()) || 1
    return new Map([...weights].map(([term, weight]) => [term, weight / length]))
  })
}

/** Returns the cosine of two vectors. */
export function cosine(a: Vector, b: Vector): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let sum = 0
  for (const [term, weight] of few) sum += weight * (many.get(term) ?? 0)
  return sum
}

/**
 * Returns which sentences are similar. It uses an index of terms, so that sentences without a
 * common term are never compared.
 */
export function similarityGraph(vectors: readonly Vector[]): SimilarityGraph {
  const graph = vectors.map(() => new Map<number, number>())
  const index = new Map<string, { sentence: number; weight: number }[]>()
  for (const [sentence, vector] of vectors.entries()) {
    const similar = new Map<number, number>()
    for (const [term, weight] of vector) {
      const otherSentences = index.get(term) ?? []
      for (const otherSentence of otherSentences) {
        const sum = (similar.get(otherSentence.sentence) ?? 0) + weight * otherSentence.weight
        similar.set(otherSentence.sentence, sum)
      }
      otherSentences.push({ sentence, weight })
      index.set(term, otherSentences)
    }
    for (const [otherSentence, similarity] of similar) {
      if (similarity < MIN_SIMILARITY) continue
      graph[sentence]!.set(otherSentence, similarity)
      graph[otherSentence]!.set(sentence, similarity)
    }
  }
  return graph
}

/**
 * Returns the centrality of each sentence: continuous LexRank (Erkan and Radev, "LexRank:
 * Graph-based Lexical Centrality", 2004), by power iteration with a fixed number of rounds. The
 * mean is 1 over sentences that are similar to others; one similar to none has 0.15.
 */
export function lexRank(graph: SimilarityGraph): number[] {
  const sums = graph.map((neighbors) => sum(neighbors.values()))
  let ranks = graph.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    const before = ranks
    ranks = graph.map((neighbors) => {
      let votes = 0
      for (const [other, similarity] of neighbors)
        votes += (before[other]! * similarity) / sums[other]!
      return 1 - DAMPING + DAMPING * votes
    })
  }
  return ranks
}
