import { mean } from '../../src/numbers.ts'

/** The confidence of a word, and whether the word was right. */
export type ScoredWord = { confidence: number; right: boolean }

/**
 * Returns the share of right words per tenth of confidence, with the expected calibration error
 * (Naeini 2015), the Brier score and the mean log loss.
 */
export function reliability(all: readonly ScoredWord[]) {
  const bins = Array.from({ length: 10 }, (_, i) => {
    const inBin = all.filter(({ confidence }) => Math.min(9, Math.floor(confidence * 10)) === i)
    return {
      count: inBin.length,
      meanConfidence: mean(inBin.map((word) => word.confidence)),
      right: mean(inBin.map((word) => Number(word.right))),
    }
  })
  const gaps = bins.map(
    ({ count, meanConfidence, right }) => (count / all.length) * Math.abs(meanConfidence - right),
  )
  return {
    words: all.length,
    calibrationError: gaps.reduce((sum, gap) => sum + gap, 0),
    brier: mean(all.map(({ confidence, right }) => (confidence - Number(right)) ** 2)),
    logLoss: mean(
      all.map(
        ({ confidence, right }) => -Math.log(Math.max(1e-9, right ? confidence : 1 - confidence)),
      ),
    ),
    columns: 'words, said %, right %',
    curve: bins.map(({ count, meanConfidence, right }) => [
      count,
      Math.round(meanConfidence * 100),
      Math.round(right * 100),
    ]),
  }
}
