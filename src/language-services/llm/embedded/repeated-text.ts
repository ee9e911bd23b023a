/** Fewer repetitions may be meant, as in a chorus or a list of equal quotes. */
const MIN_REPETITIONS = 8
/** Letters of all repetitions together. */
const MIN_CHARS = 240
/** The longest text that counts as one repetition, and the shortest. */
const MAX_UNIT_CHARS = 200
const MIN_UNIT_CHARS = 4

/**
 * Returns the beginning of a text that ends in the same words many times over, up to and with the
 * first of them; undefined if it does not. Small models that got into such a loop never leave it.
 */
export function beforeRepetition(text: string): string | undefined {
  for (let unit = MIN_UNIT_CHARS; unit <= MAX_UNIT_CHARS; unit++) {
    const start = repetitionStart(text, unit)
    const letters = text.length - start
    if (letters < MIN_CHARS || letters < unit * MIN_REPETITIONS) continue
    const firstOccurrence = text.slice(0, start + unit)
    // What repeats may begin in the middle of a sentence that is there once more.
    return /[.!?…。！？]\s*$/.test(firstOccurrence)
      ? firstOccurrence
      : toSentenceEnd(text, start + unit, unit)
  }
  return undefined
}

/** Returns where the end of a text begins that repeats every so many letters. */
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
