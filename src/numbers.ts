/** Returns the sum of numbers. */
export function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}

/** Returns the mean of numbers; 0 if there are none. */
export function mean(numbers: readonly number[] | Float32Array): number {
  return sum(numbers) / Math.max(1, numbers.length)
}

/** Random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
