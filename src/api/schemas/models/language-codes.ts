import { Type } from '../common/type.ts'

/** Codes of languages in which speech can be transcribed. */
export const transcriptionCodes: readonly string[] = [
  ...['af', 'am', 'ar', 'as', 'az', 'ba', 'be', 'bg', 'bn', 'bo', 'br', 'bs', 'ca', 'cs', 'cy'],
  ...['da', 'de', 'el', 'en', 'es', 'et', 'eu', 'fa', 'fi', 'fo', 'fr', 'gl', 'gu', 'ha', 'haw'],
  ...['he', 'hi', 'hr', 'ht', 'hu', 'hy', 'id', 'is', 'it', 'ja', 'jw', 'ka', 'kk', 'km', 'kn'],
  ...['ko', 'la', 'lb', 'ln', 'lo', 'lt', 'lv', 'mg', 'mi', 'mk', 'ml', 'mn', 'mr', 'ms', 'mt'],
  ...['my', 'ne', 'nl', 'nn', 'no', 'oc', 'pa', 'pl', 'ps', 'pt', 'ro', 'ru', 'sa', 'sd', 'si'],
  ...['sk', 'sl', 'sn', 'so', 'sq', 'sr', 'su', 'sv', 'sw', 'ta', 'te', 'tg', 'th', 'tk', 'tl'],
  ...['tr', 'tt', 'uk', 'ur', 'uz', 'vi', 'yi', 'yo', 'zh'],
]

/** Codes of languages into which text can be translated. */
export const translationCodes: readonly string[] = [...transcriptionCodes, 'wo']

/** Codes that older clients still send, with the codes that replace them. */
const aliases = new Map([
  ['jv', 'jw'],
  ['mymr', 'my'],
  ['jp', 'ja'],
])

/**
 * Returns the schema of one language code; its format makes readers rewrite aliases before they
 * check.
 */
export function LanguageCode(codes: readonly string[]) {
  const schema = { type: 'string', format: 'language-code', enum: [...codes] }
  return { ...Type.Unsafe<string>(schema), enum: schema.enum }
}

/**
 * Rewrites an alias and removes a region subtag (`en-US` and `en_US` become `en`); a text in
 * `codes` does not change.
 */
export function canonicalLanguage(text: string, codes: readonly string[]): string {
  if (codes.includes(text)) return text
  const tag = text.replaceAll('_', '-')
  if (codes.includes(tag)) return tag
  const [language = ''] = tag.split('-', 1)
  return aliases.get(language) ?? language
}
