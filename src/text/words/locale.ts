/** The language as `Intl` takes it: its root locale stands for codes that are none, such as `??`. */
export function localeOf(language: string): string {
  try {
    return Intl.getCanonicalLocales(language)[0] ?? 'und'
  } catch {
    // A RangeError, which is all that it throws: the code is no language tag (BCP 47).
    return 'und'
  }
}
