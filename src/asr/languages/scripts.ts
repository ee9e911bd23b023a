/** The languages of Whisper that are not written in Latin letters, by their scripts in Unicode. */
const languagesByScript: Record<string, string> = {
  Arabic: 'ar fa ps sd ur',
  Armenian: 'hy',
  Bengali: 'as bn',
  Cyrillic: 'ba be bg kk mk mn ru sr tg tt uk',
  Devanagari: 'hi mr ne sa',
  Ethiopic: 'am',
  Georgian: 'ka',
  Greek: 'el',
  Gujarati: 'gu',
  Gurmukhi: 'pa',
  Han: 'ja yue zh',
  Hangul: 'ko',
  Hebrew: 'he yi',
  Kannada: 'kn',
  Khmer: 'km',
  Lao: 'lo',
  Malayalam: 'ml',
  Myanmar: 'my',
  Sinhala: 'si',
  Tamil: 'ta',
  Telugu: 'te',
  Thai: 'th',
  Tibetan: 'bo',
}

const scripts = new Map(
  Object.entries(languagesByScript).flatMap(([script, languages]) => {
    return languages.split(' ').map((language) => [language, script] as const)
  }),
)

/** Returns the script that a language is written in: Latin, unless known otherwise. */
export function scriptOf(language: string): string {
  return scripts.get(language) ?? 'Latin'
}

/**
 * Returns true where a text has letters of the script of its language; names may be in others.
 * Serbian has two scripts, and a text without letters has none.
 */
export function isWrittenIn(language: string, text: string): boolean {
  if (language === 'sr' || !/\p{L}/u.test(text)) return true
  const script = scriptOf(language)
  const extra = language === 'ja' ? '\\p{Script=Hiragana}\\p{Script=Katakana}' : ''
  return new RegExp(`[\\p{Script=${script}}${extra}]`, 'u').test(text)
}
