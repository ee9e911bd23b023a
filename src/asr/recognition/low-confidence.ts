import { mean } from '../../numbers.ts'

/**
 * Mean word confidence of clear English: of 123 English recordings, read, spoken and by telephone,
 * the lowest with 10 words or more had 0.76; of 39 in other languages, all but one stayed below
 * 0.60.
 */
const CLEAR_ENGLISH_CONFIDENCE = 0.7
/** How far the mean of n words may be below that by chance: this, divided by the root of n. */
const CONFIDENCE_DEVIATION = 0.55
/** From this many seconds of speech without any word on, a warning is returned. */
const WORDLESS_SECONDS = 3

/**
 * The recognized words of a recording or session; `uncovered` are seconds of speech without words.
 */
export type RecognizedWords = { confidences: readonly number[]; uncovered?: number }

/**
 * Returns a warning for the user when the recognizer was unsure of most words, or found none in
 * speech. A recognizer that knows one language turns another one into fluent text of its own; its
 * confidence is the only sign of that.
 */
export function warnOfLowConfidence({ confidences, uncovered = 0 }: RecognizedWords): string[] {
  const question = 'Is the recording in a language that it does not know, or very noisy?'
  const count = confidences.length
  if (count === 0) {
    if (uncovered < WORDLESS_SECONDS) return []
    return [`The recognizer found no words in ${Math.round(uncovered)} s of speech. ${question}`]
  }
  const meanConfidence = mean(confidences)
  if (meanConfidence >= CLEAR_ENGLISH_CONFIDENCE - CONFIDENCE_DEVIATION / Math.sqrt(count))
    return []
  const text = 'The recognizer was unsure of most words'
  return [`${text} (mean confidence ${meanConfidence.toFixed(2)}). ${question}`]
}
