/** Weights of the calibration. */
const WORD_WEIGHT = 0.742
const SEGMENT_WEIGHT = 4.438
const BIAS = 1.485

/** The inputs of the calibration: log odds of the word's tokens, log probability of its segment. */
export function confidenceFeatures(
  logProbs: readonly number[],
  segmentLogProbability: number,
): [odds: number, segment: number] {
  const probability = Math.exp(logProbs.reduce((sum, p) => sum + p, 0))
  const clamped = Math.min(Math.max(probability, 1e-4), 1 - 1e-4)
  return [Math.log(clamped / (1 - clamped)), segmentLogProbability]
}

/**
 * Returns the probability that a word is right, 0 to 1: from the probabilities of its tokens
 * (`logProbs`) and the mean log probability of the whole segment.
 */
export function wordConfidence(logProbs: readonly number[], segmentLogProbability: number): number {
  const [odds, segment] = confidenceFeatures(logProbs, segmentLogProbability)
  return 1 / (1 + Math.exp(-(WORD_WEIGHT * odds + SEGMENT_WEIGHT * segment + BIAS)))
}
