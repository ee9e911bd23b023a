/** Language names of Whisper and other servers that differ from the names of Unicode (CLDR). */
const otherNames: Readonly<Record<string, string>> = {
  castilian: 'es',
  flemish: 'nl',
  valencian: 'ca',
  moldavian: 'ro',
  moldovan: 'ro',
  mandarin: 'zh',
  cantonese: 'yue',
  javanese: 'jw',
  jv: 'jw',
  iw: 'he',
  in: 'id',
  tagalog: 'tl',
  filipino: 'tl',
  fil: 'tl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  myanmar: 'my',
  burmese: 'my',
  nynorsk: 'nn',
  nb: 'no',
  bokmal: 'no',
  pushto: 'ps',
  panjabi: 'pa',
  sinhalese: 'si',
  faroese: 'fo',
  jp: 'ja',
  cn: 'zh',
}

const namesByCode = new Map<string, string>()

/**
 * Returns the code of a language that a server names as it likes: `en`, `en-US`, `english` or
 * `English`; undefined when it is none of `codes`.
 */
export function languageCodeOf(name: string, codes: readonly string[]): string | undefined {
  const plain = name.trim().toLowerCase()
  const [code = ''] = plain.split(/[-_]/, 1)
  const codeOfName = [plain, code, otherNames[plain], otherNames[code]].find((candidate) => {
    return candidate !== undefined && codes.includes(candidate)
  })
  return codeOfName ?? codes.find((candidate) => languageNameOf(candidate) === plain)
}

/** Returns the English name of a language, in lower case. */
function languageNameOf(code: string): string | undefined {
  if (!namesByCode.has(code)) {
    const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
    namesByCode.set(code, names.of(code)?.toLowerCase() ?? '')
  }
  return namesByCode.get(code)
}
