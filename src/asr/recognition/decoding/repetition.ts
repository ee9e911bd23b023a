/**
 * How many times in a row a phrase of 1, 2, 3, … tokens must occur to indicate a decoder that is
 * lost. Short phrases may occur more often: "no, no, no", the digits of "zero, zero, zero", the
 * zeros of a million.
 */
const REPEATS = [8, 6, 4, 3, 3, 3, 3, 3]

/**
 * Detects a loop of an encoder-decoder ("a 10-page 10-page 10-page …"), which occurs mostly on
 * audio cut within speech. Returns how many tokens to keep when the end of `tokens` repeats itself,
 * so that the phrase stays once; undefined while there is no loop.
 */
export function findRepetition(tokens: readonly number[]): number | undefined {
  for (let phraseLength = 1; phraseLength <= REPEATS.length; phraseLength++) {
    const length = phraseLength * REPEATS[phraseLength - 1]!
    if (tokens.length < length) continue
    const first = tokens.length - length
    let same = true
    for (let i = first + phraseLength; same && i < tokens.length; i++) {
      same = tokens[i] === tokens[i - phraseLength]
    }
    if (same) return first + phraseLength
  }
  return undefined
}
