/**
 * Returns the language in the form that `Intl` accepts: its root locale replaces invalid codes such
 * as `??`.
 */
export function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'und'
  } catch {
    // The only error is a RangeError: the code is not a language tag (BCP 47).
    return 'und'
  }
}

const wordSegmenters = new Map<string, Intl.Segmenter>()

/** Returns the segmenter of a language, which finds words also where no spaces are written. */
export function wordSegmenterOf(language: string): Intl.Segmenter {
  const segmenter =
    wordSegmenters.get(language) ?? new Intl.Segmenter(localeOf(language), { granularity: 'word' })
  wordSegmenters.set(language, segmenter)
  return segmenter
}
