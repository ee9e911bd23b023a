import { sum } from '../../numbers.ts'

/** Weights of a logistic regression (Platt 1999), fitted on words with reference transcripts. */
export type ConfidenceCalibration = { word: number; segment: number; bias: number }

/**
 * Returns the probability that a word is right, 0 to 1: from the probability of its tokens
 * (`logProbs`) and the mean log probability of the whole segment, since a decoder that is lost is
 * still confident in single words.
 */
export function calibratedConfidence(
  { word, segment, bias }: ConfidenceCalibration,
  logProbs: readonly number[],
  segmentLogProbability: number,
): number {
  const probability = Math.exp(sum(logProbs))
  const clamped = Math.min(Math.max(probability, 1e-4), 1 - 1e-4)
  const odds = Math.log(clamped / (1 - clamped))
  return 1 / (1 + Math.exp(-(word * odds + segment * segmentLogProbability + bias)))
}
