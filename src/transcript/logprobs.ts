import { roundTo } from './rounding.ts'

/** A confidence of 0 has no logarithm. */
const MIN_CONFIDENCE = 1e-4

/** Returns the natural logarithm of a confidence. */
export function logprobOf({ confidence }: { confidence: number }): number {
  return roundTo(Math.log(Math.max(MIN_CONFIDENCE, confidence)), 4)
}

/** Returns words as OpenAI's API shows tokens: their text, its bytes and its log probability. */
export function toLogprobs(words: readonly { word: string; confidence: number }[]) {
  return words.map((word) => {
    return { token: word.word, bytes: [...Buffer.from(word.word)], logprob: logprobOf(word) }
  })
}
