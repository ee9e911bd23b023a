/** Returns words that begin and end a number of seconds later. */
export function shiftWords<Timed extends { start: number; end: number }>(
  words: readonly Timed[],
  seconds: number,
): Timed[] {
  return words.map((word) => ({ ...word, start: word.start + seconds, end: word.end + seconds }))
}
