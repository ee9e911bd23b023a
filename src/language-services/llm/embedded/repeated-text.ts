/** Fewer repetitions may be intended, as in a chorus or a list of equal quotes. */
const MIN_REPETITIONS = 8
/** The fewest characters of all repetitions together. */
const MIN_CHARS = 240
/** The longest text that counts as one repetition, and the shortest. */
const MAX_UNIT_CHARS = 200
const MIN_UNIT_CHARS = 4

/**
 * If a text ends with many repetitions of the same words, returns it up to the end of the first
 * one; otherwise undefined. Small models never leave such a loop.
 */
export function beforeRepetition(text: string): string | undefined {
  for (let unit = MIN_UNIT_CHARS; unit <= MAX_UNIT_CHARS; unit++) {
    const start = repetitionStart(text, unit)
    const letters = text.length - start
    if (letters < MIN_CHARS || letters < unit * MIN_REPETITIONS) continue
    const firstOccurrence = text.slice(0, start + unit)
    // The repeated text may begin in the middle of a sentence.
    return /[.!?…。！？]\s*$/.test(firstOccurrence)
      ? firstOccurrence
      : toSentenceEnd(text, start + unit, unit)
  }
  return undefined
}

/** Returns the index from which a text repeats every `unit` characters. */
function repetitionStart(text: string, unit: number): number {
  let at = text.length - unit
  while (at > 0 && text[at - 1] === text[at - 1 + unit]) at--
  return at
}

/** Returns the text up to the next end of a sentence within one repetition. */
function toSentenceEnd(text: string, from: number, unit: number): string {
  const end = text.slice(from, from + unit).search(/[.!?…。！？](\s|$)/)
  return text.slice(0, end < 0 ? from : from + end + 1)
}
