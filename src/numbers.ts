/** Returns the sum of numbers. */
export function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

/** Returns the mean of numbers; 0 if there are none. */
export function mean(numbers: ArrayLike<number> & Iterable<number>): number {
  return sum(numbers) / Math.max(1, numbers.length)
}

/**
 * Adds a change to the count of a key. A count that falls to 0 is removed, so that the map does not
 * grow with every key that was ever counted.
 */
export function addToCount<K>(counts: Map<K, number>, key: K, change: number): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
