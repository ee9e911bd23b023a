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
