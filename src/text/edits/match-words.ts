/** Maximum pairs of words that are compared. Longer texts are treated as entirely different. */
const MAX_PAIRS = 250_000

/**
 * Returns for each word of `now` the index of the same word in `old`, or -1. It matches as many
 * words as possible in the same order.
 */
export function matchWords(old: readonly string[], now: readonly string[]): number[] {
  const matches = new Array<number>(now.length).fill(-1)
  const shorter = Math.min(old.length, now.length)
  let before = 0
  while (before < shorter && old[before] === now[before]) matches[before] = before++
  let after = 0
  while (after < shorter - before && old.at(-1 - after) === now.at(-1 - after)) {
    after++
    matches[now.length - after] = old.length - after
  }
  const remainingWords = {
    old: old.slice(before, old.length - after),
    now: now.slice(before, now.length - after),
  }
  for (const [i, k] of longestCommon(remainingWords.old, remainingWords.now))
    matches[before + k] = before + i
  return matches
}

/** Returns the pairs of indexes of a longest common subsequence. */
function longestCommon(old: readonly string[], now: readonly string[]): [number, number][] {
  if (old.length * now.length > MAX_PAIRS) return []
  const width = now.length + 1
  // The length of the longest common subsequence of the words from `i` and from `k` on.
  const lengths = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let k = now.length - 1; k >= 0; k--) {
      lengths[i * width + k] =
        old[i] === now[k]
          ? lengths[(i + 1) * width + k + 1]! + 1
          : Math.max(lengths[(i + 1) * width + k]!, lengths[i * width + k + 1]!)
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, k = 0; i < old.length && k < now.length; ) {
    if (old[i] === now[k]) pairs.push([i++, k++])
    else if (lengths[(i + 1) * width + k]! >= lengths[i * width + k + 1]!) i++
    else k++
  }
  return pairs
}
