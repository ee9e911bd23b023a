import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { sum } from '../../../numbers.ts'
import type { WindowEmbedding } from '../embedding/embedders/embedder.ts'
import { type Cluster, clusterEmbeddings, mergeClusters } from './agglomerative-clustering.ts'
import { inferSpeakers } from './vbx.ts'
import { dot, meanDirection } from './vectors.ts'

/** The speakers of one channel: the estimated count, and their vectors for any count. */
export type ChannelSpeakers = {
  count: number
  /**
   * Returns `count` vectors of length 1, or fewer when there is less speech; repeated calls return
   * the same.
   */
  centroids(count: number): Float32Array[]
}

/**
 * Groups are formed of windows at least this long whose starts are at least this far apart;
 * seconds.
 */
const SURE_WINDOW = 1
const STEP = 0.75
/** A shorter window is too little evidence for a speaker, in seconds. */
const MIN_WINDOW_SECONDS = 0.6
/** Groups with a lower similarity are not merged here; VBx decides about them. */
const MIN_SIMILARITY = 0.35
/** Maximum number of speakers searched for in one channel. */
const MAX_SPEAKERS = 20
/** A speaker has at least this many windows, about a second of speech. */
const MIN_WINDOWS = 3.4
/**
 * For a request of more speakers than VBx finds: factors on the penalty of a speaker, tried one
 * after the other; the fewest windows of a speaker then, three quarters of a second of speech; and
 * the fewest windows of a group that becomes a speaker if the factors are not enough.
 */
const PENALTY_FACTORS = [0.5, 0.25, 0.125]
const MIN_EASED_WINDOWS = 2.5
const SURE_GROUP = 3
/** A group to which the model gives fewer windows than this keeps its vector. */
const LEARNED_WINDOWS = 2

type WeightedCentroid = { centroid: Float32Array; weight: number }

/**
 * Finds the speakers of one channel. Average linkage forms more groups than there are speakers; a
 * hidden Markov model then keeps those that the recording needs. For a lower count the nearest
 * speakers are merged. For a higher one, speakers get a lower penalty, and finally the model learns
 * as many as requested from groups of some size, if there are any. `windows` are in order of time.
 */
export function clusterSpeakers(windows: readonly WindowEmbedding[]): ChannelSpeakers {
  const long = windows.filter((window) => windowSeconds(window) >= MIN_WINDOW_SECONDS)
  const embeddings = (long.length > 0 ? long : windows).map(({ embedding }) => embedding)
  const sparse = subsampleWindows(windows).map(({ embedding }) => embedding)
  const groups = clusterEmbeddings(sparse.length > 0 ? sparse : embeddings, MAX_SPEAKERS)
  const penaltyFactors = [1, ...PENALTY_FACTORS]
  const speakersByLevel: WeightedCentroid[][] = []
  const estimatedSpeakers = speakersFor(0)
  const cachedCentroids = new Map<number, Float32Array[]>()

  function centroids(count: number): Float32Array[] {
    const speakers = cachedCentroids.get(count) ?? speakersAt(count)
    cachedCentroids.set(count, speakers)
    return speakers
  }

  function speakersAt(count: number): Float32Array[] {
    for (const level of penaltyFactors.keys()) {
      const speakers = speakersFor(level)
      if (speakers.length >= count)
        return mergeNearest(speakers, count).map(({ centroid }) => centroid)
    }
    return learnGroups(embeddings, largeGroups(groups, count).map(directionOf))
  }

  /**
   * Returns the speakers kept at a penalty level; computes each level once, as many counts are
   * requested.
   */
  function speakersFor(level: number): WeightedCentroid[] {
    speakersByLevel[level] ??= keepSpeakers(embeddings, groups, penaltyFactors[level]!)
    return speakersByLevel[level]
  }

  return { count: estimatedSpeakers.length, centroids }
}

/**
 * Returns the windows that are long enough to be reliable, and far enough apart not to resemble
 * their neighbors by overlap.
 */
function subsampleWindows(windows: readonly WindowEmbedding[]): WindowEmbedding[] {
  let last = Number.NEGATIVE_INFINITY
  return windows.filter((window) => {
    if (windowSeconds(window) < SURE_WINDOW || window.start - last < STEP * SAMPLE_RATE)
      return false
    last = window.start
    return true
  })
}

function windowSeconds({ start, end }: WindowEmbedding): number {
  return (end - start) / SAMPLE_RATE
}

/**
 * Returns the speakers that the model keeps, by descending weight; at least one where there is any
 * speech.
 */
function keepSpeakers(
  embeddings: readonly Float32Array[],
  groups: readonly Cluster[],
  penaltyScale: number,
): WeightedCentroid[] {
  const starts = mergeClusters(groups, { count: 1, similarity: MIN_SIMILARITY }).map(directionOf)
  const speakers = learnSpeakers(embeddings, { starts, penaltyScale })
  speakers.sort((a, b) => b.weight - a.weight)
  const min = penaltyScale < 1 ? MIN_EASED_WINDOWS : MIN_WINDOWS
  return speakers.filter(({ weight }, k) => k === 0 || weight >= min)
}

/**
 * Returns as many speakers as there are start vectors, moved to the windows that the model gives
 * them.
 */
function learnGroups(
  embeddings: readonly Float32Array[],
  starts: readonly Float32Array[],
): Float32Array[] {
  return learnSpeakers(embeddings, { starts, penaltyScale: 1 }).map(({ centroid, weight }, k) => {
    return weight >= LEARNED_WINDOWS ? centroid : starts[k]!
  })
}

function learnSpeakers(
  embeddings: readonly Float32Array[],
  { starts, penaltyScale }: { starts: readonly Float32Array[]; penaltyScale: number },
): WeightedCentroid[] {
  if (starts.length === 0) return []
  const start = embeddings.map((embedding) => nearestCentroid(embedding, starts))
  const shares = inferSpeakers(embeddings, { start, speakerCount: starts.length, penaltyScale })
  return starts.map((_, k) => {
    const weights = shares.map((share) => share[k]!)
    const weight = sum(weights)
    return { centroid: meanDirection(embeddings, weights), weight }
  })
}

function nearestCentroid(embedding: Float32Array, centroids: readonly Float32Array[]): number {
  let [best, cosine] = [0, Number.NEGATIVE_INFINITY]
  for (const [k, centroid] of centroids.entries()) {
    const similarity = dot(embedding, centroid)
    if (similarity > cosine) [best, cosine] = [k, similarity]
  }
  return best
}

function mergeNearest(speakers: readonly WeightedCentroid[], count: number): WeightedCentroid[] {
  const merged = [...speakers]
  while (merged.length > Math.max(1, count)) {
    let [a, b, cosine] = [0, 1, Number.NEGATIVE_INFINITY]
    for (let i = 0; i < merged.length; i++) {
      for (let j = i + 1; j < merged.length; j++) {
        const similarity = dot(merged[i]!.centroid, merged[j]!.centroid)
        if (similarity > cosine) [a, b, cosine] = [i, j, similarity]
      }
    }
    const pair = [merged[a]!, merged[b]!]
    const weights = pair.map(({ weight }) => weight)
    const centroids = pair.map(({ centroid }) => centroid)
    merged[a] = { centroid: meanDirection(centroids, weights), weight: weights[0]! + weights[1]! }
    merged.splice(b, 1)
  }
  return merged
}

/**
 * Returns `count` groups of some size, at the coarsest level that has so many; a level with the
 * right number of groups would often treat a cough as a speaker. Without such a level the groups
 * stay as they are.
 */
function largeGroups(groups: readonly Cluster[], count: number): Cluster[] {
  let chosen: Cluster[] | undefined
  let level = [...groups]
  while (level.length > count) {
    const large = level.filter(({ size }) => size >= SURE_GROUP)
    if (large.length >= count) chosen = large.toSorted((a, b) => b.size - a.size).slice(0, count)
    level = mergeClusters(level, { count: level.length - 1, similarity: -1 })
  }
  const allLarge = level.every(({ size }) => size >= SURE_GROUP)
  return allLarge || !chosen ? level : chosen
}

function directionOf({ sum }: Cluster): Float32Array {
  return meanDirection([sum], [1])
}
