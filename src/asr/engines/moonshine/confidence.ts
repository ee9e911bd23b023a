import { type ConfidenceCalibration, calibratedConfidence } from '../word-confidence.ts'

/**
 * Weights of the calibration: fitted by logistic regression (Platt 1999) on 2181 words of English
 * recordings with reference transcripts. Half of the speakers were used for the fit; the other
 * half, the test set, gave the curve in docs/benchmarks.md.
 */
const calibration: ConfidenceCalibration = { word: 0.742, segment: 4.438, bias: 1.485 }

/** Returns the probability that a word is right; see `calibratedConfidence`. */
export function wordConfidence(logProbs: readonly number[], segmentLogProbability: number): number {
  return calibratedConfidence(calibration, logProbs, segmentLogProbability)
}
