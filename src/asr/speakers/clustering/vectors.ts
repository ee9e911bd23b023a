/** Returns the dot product: the cosine of two vectors of length 1. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

/** Returns the weighted mean direction of `vectors`, as a vector of length 1. */
export function meanDirection(
  vectors: readonly ArrayLike<number>[],
  weights: readonly number[],
): Float32Array {
  const sum = new Float64Array(vectors[0]?.length ?? 0)
  for (const [k, vector] of vectors.entries()) {
    for (let i = 0; i < sum.length; i++) sum[i]! += weights[k]! * vector[i]!
  }
  const length = Math.sqrt(dot(sum, sum))
  return Float32Array.from(sum, (x) => (length > 0 ? x / length : 0))
}
