/** The weights of the terms of one sentence, of length 1. */
export type Vector = ReadonlyMap<string, number>

/** Neighbours of a sentence, by index, with their similarity. */
export type Graph = readonly ReadonlyMap<number, number>[]

/** Below this cosine two sentences only share a word by chance; the value of the paper. */
const MIN_SIMILARITY = 0.1
/** The chance to follow a similarity, not to jump anywhere; the value of the paper. */
const DAMPING = 0.85
const ROUNDS = 40
/** A word that stands in more of the sentences than this is a stop word of a language whose list we lack. */
const MAX_SHARE = 0.2
/** Fewer sentences say nothing about how common a word is. */
const MIN_SENTENCES = 30

/** TF-IDF vectors of sentences that are given as their terms; one without rare terms gets an empty vector. */
export function vectorsOf(sentences: readonly (readonly string[])[]): Vector[] {
  const frequency = new Map<string, number>()
  for (const terms of sentences) {
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  }
  const most =
    sentences.length < MIN_SENTENCES ? Number.POSITIVE_INFINITY : MAX_SHARE * sentences.length
  return sentences.map((terms) => {
    const weights = new Map<string, number>()
    for (const term of terms) {
      if (frequency.get(term)! > most) continue
      const idf = Math.log(1 + sentences.length / frequency.get(term)!)
      weights.set(term, (weights.get(term) ?? 0) + idf)
    }
    const length = Math.hypot(...weights.values()) || 1
    return new Map([...weights].map(([term, weight]) => [term, weight / length]))
  })
}

/** The cosine of two vectors. */
export function cosine(a: Vector, b: Vector): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a]
  let sum = 0
  for (const [term, weight] of few) sum += weight * (many.get(term) ?? 0)
  return sum
}

/** Which sentences are alike, found over an index of terms: sentences that share none are never compared. */
export function similarityGraph(vectors: readonly Vector[]): Graph {
  const graph = vectors.map(() => new Map<number, number>())
  const index = new Map<string, { sentence: number; weight: number }[]>()
  for (const [sentence, vector] of vectors.entries()) {
    const similar = new Map<number, number>()
    for (const [term, weight] of vector) {
      const others = index.get(term) ?? []
      for (const other of others) {
        const sum = (similar.get(other.sentence) ?? 0) + weight * other.weight
        similar.set(other.sentence, sum)
      }
      others.push({ sentence, weight })
      index.set(term, others)
    }
    for (const [other, similarity] of similar) {
      if (similarity < MIN_SIMILARITY) continue
      graph[sentence]!.set(other, similarity)
      graph[other]!.set(sentence, similarity)
    }
  }
  return graph
}

/**
 * How central each sentence is: continuous LexRank (Erkan and Radev, "LexRank: Graph-based Lexical Centrality",
 * 2004), power iteration with a fixed number of rounds. The
 * mean is 1 over sentences that are like others; one like no other has 0.15.
 */
export function lexRank(graph: Graph): number[] {
  const sums = graph.map((neighbors) => neighbors.values().reduce((sum, each) => sum + each, 0))
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
