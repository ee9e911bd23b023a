/** One recognized word, with the properties that the thresholds depend on. */
export type RecognizedWord = {
  confidence: number
  hasDigit: boolean
  isCommon: boolean
  isFunctionWord: boolean
}

/** Above this mean confidence, common words are assumed to be correctly recognized. */
const HIGH_CONFIDENCE = 0.9

/**
 * Returns the factor, from 0 to 1, that scales the threshold of an entry when it is compared with
 * these English words: everyday words must be much closer to an entry than rare ones. The bench
 * `vocabulary` measured the values.
 */
export function acceptanceFactor(words: readonly RecognizedWord[]): number {
  let factor = 1
  if (words.some(({ hasDigit }) => hasDigit)) factor *= 0.3
  if (words.every(({ isCommon }) => isCommon)) {
    factor *= words.length === 1 ? 0.35 : 0.75
    const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length
    if (confidence > HIGH_CONFIDENCE) factor *= 0.9
  }
  if (words[0]!.isFunctionWord || words.at(-1)!.isFunctionWord) factor *= 0.45
  else if (words.some(({ isFunctionWord }) => isFunctionWord)) factor *= 0.6
  return factor
}
