/**
 * Weights of the calibration: fitted by logistic regression (Platt 1999) on 2181 words of English
 * recordings with reference transcripts. Half of the speakers were used for the fit; the other
 * half, the test set, gave the curve in docs/benchmarks.md.
 */
const WORD_WEIGHT = 0.742
const SEGMENT_WEIGHT = 4.438
const BIAS = 1.485

/**
 * Returns the probability that a word is right, 0 to 1: from the probability of its tokens
 * (`logProbs`) and the mean log probability of the whole segment, since a decoder that is lost is
 * still confident in single words.
 */
export function wordConfidence(logProbs: readonly number[], segmentLogProbability: number): number {
  const probability = Math.exp(logProbs.reduce((sum, p) => sum + p, 0))
  const clamped = Math.min(Math.max(probability, 1e-4), 1 - 1e-4)
  const odds = Math.log(clamped / (1 - clamped))
  return 1 / (1 + Math.exp(-(WORD_WEIGHT * odds + SEGMENT_WEIGHT * segmentLogProbability + BIAS)))
}
