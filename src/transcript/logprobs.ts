import { roundTo } from './rounding.ts'

/** The lower bound of confidences, since 0 has no logarithm. */
const MIN_CONFIDENCE = 1e-4

/** Returns the natural logarithm of a confidence. */
export function logprobOf({ confidence }: { confidence: number }): number {
  return roundTo(Math.log(Math.max(MIN_CONFIDENCE, confidence)), 4)
}

type SpokenWords = { words: readonly { word: string; confidence: number }[] }

/**
 * Returns the words of utterances as OpenAI's API shows tokens: their text, its bytes and its log
 * probability. The joined tokens are the text: a space separates utterances, and precedes the first
 * one only if it continues a text.
 */
export function toLogprobs(
  utterances: readonly SpokenWords[],
  { continues = false }: { continues?: boolean } = {},
) {
  return utterances.flatMap(({ words }, i) => {
    const before = i > 0 || continues ? ' ' : ''
    return words.map((word, j) => {
      const token = j > 0 ? word.word : `${before}${word.word.trimStart()}`
      return { token, bytes: [...Buffer.from(token)], logprob: logprobOf(word) }
    })
  })
}
