/** One word of speech as the guards see it. */
export type RecognizedWord = {
  confidence: number
  hasDigit: boolean
  isCommon: boolean
  isFunctionWord: boolean
}

/** A recognizer that is this sure of common words has heard them. */
const SURE = 0.9

/**
 * How much of its threshold an entry keeps for these words of English, 0 to 1: what people say every day
 * must sound much more like an entry than what nobody says. Factors are measured by the bench `vocabulary`.
 */
export function acceptanceFactor(words: readonly RecognizedWord[]): number {
  let factor = 1
  if (words.some(({ hasDigit }) => hasDigit)) factor *= 0.3
  if (words.every(({ isCommon }) => isCommon)) {
    factor *= words.length === 1 ? 0.35 : 0.75
    const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length
    if (confidence > SURE) factor *= 0.9
  }
  if (words[0]!.isFunctionWord || words.at(-1)!.isFunctionWord) factor *= 0.45
  else if (words.some(({ isFunctionWord }) => isFunctionWord)) factor *= 0.6
  return factor
}
