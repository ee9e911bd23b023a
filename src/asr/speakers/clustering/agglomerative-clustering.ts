import { dot } from './vectors.ts'

/** Embeddings that belong together: their sum and their number. */
export type Cluster = { sum: Float64Array; size: number }

/**
 * Merging ends at `count` groups, or when no two groups have this `similarity`: mean cosine of
 * their members, -1 for no limit.
 */
export type MergeLimit = { count: number; similarity: number }

/**
 * Maximum number of groups compared with each other at a time: limits time and memory for long
 * recordings.
 */
const POOL = 300

/**
 * Forms at most `count` groups of embeddings (vectors of length 1) by average linkage: the two
 * groups whose members have the highest mean cosine merge first. More than 300 are added in order,
 * and the pool is merged to half its limit each time, so the work grows linearly with their number,
 * not with its square.
 */
export function clusterEmbeddings(embeddings: readonly Float32Array[], count: number): Cluster[] {
  let pool: Cluster[] = []
  for (let from = 0; from < embeddings.length; from += POOL / 2) {
    if (pool.length > POOL / 2) pool = mergeClusters(pool, { count: POOL / 2, similarity: -1 })
    const next = embeddings.slice(from, from + POOL / 2)
    pool.push(...next.map((embedding) => ({ sum: Float64Array.from(embedding), size: 1 })))
  }
  return mergeClusters(pool, { count, similarity: -1 })
}

/** Merges groups by average linkage up to the limit; of equally good pairs the first is taken. */
export function mergeClusters(
  groups: readonly Cluster[],
  { count, similarity }: MergeLimit,
): Cluster[] {
  const merged: (Cluster | undefined)[] = [...groups]
  const similarities = groups.map((a) => Float64Array.from(groups, (b) => similarityOf(a, b)))
  for (
    let remainingGroups = groups.length;
    remainingGroups > Math.max(1, count);
    remainingGroups--
  ) {
    const pair = mostSimilarPair(merged, similarities)
    if (!pair || pair.similarity < similarity) break
    const { a, b } = pair
    const joined = joinClusters(merged[a]!, merged[b]!)
    merged[a] = joined
    merged[b] = undefined
    for (const [k, otherCluster] of merged.entries()) {
      if (!otherCluster || k === a) continue
      similarities[a]![k] = similarityOf(joined, otherCluster)
      similarities[k]![a] = similarities[a]![k]!
    }
  }
  return merged.filter((group) => group !== undefined)
}

/** Returns the mean cosine between the members of two groups: the product of their means. */
function similarityOf(a: Cluster, b: Cluster): number {
  return dot(a.sum, b.sum) / (a.size * b.size)
}

function joinClusters(a: Cluster, b: Cluster): Cluster {
  return { sum: a.sum.map((x, i) => x + b.sum[i]!), size: a.size + b.size }
}

function mostSimilarPair(
  groups: readonly (Cluster | undefined)[],
  similarities: readonly Float64Array[],
) {
  let best: { a: number; b: number; similarity: number } | undefined
  for (let a = 0; a < groups.length; a++) {
    if (!groups[a]) continue
    const row = similarities[a]!
    for (let b = a + 1; b < groups.length; b++) {
      if (groups[b] && !(row[b]! <= (best?.similarity ?? Number.NEGATIVE_INFINITY))) {
        best = { a, b, similarity: row[b]! }
      }
    }
  }
  return best
}
