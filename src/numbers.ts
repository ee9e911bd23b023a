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
