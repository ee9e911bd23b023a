import type { Entity, EntityType } from '../entity-types.ts'

/** "W-H-I", "W H I double T". */
const letters = /\b(?:double )?[A-Z](?:[ ,.-]{1,2}(?:double )?[A-Z]){1,30}\b/g
/** "K as in kilo, O for Oscar": at least two letters, their words included. */
const explained =
  /\b[A-Z],? (?:as in|for|like) \p{L}+(?:[,.]? (?:and )?(?:double )?[A-Z](?:,? (?:as in|for|like) \p{L}+)?(?![\p{L}'’])){1,30}/gu
const cue =
  /\b(?:sur|last |first |middle )?name\b|\bspell\w*|\bspelt\b|\bwith (?:an?|one|two|double) [A-Z]\b/i

/**
 * Finds spelled names: "S-M-I-T-H" and "S as in Sam, M, I, T, H", where the text mentions a name.
 */
export function findSpelled(text: string, foundEntities: readonly Entity[]): Entity[] {
  return [letters, explained].flatMap((pattern) =>
    Array.from(text.matchAll(pattern), ({ 0: phrase, index }) => {
      // "With a K. K, A, T, H, R, Y, N": the first letter belongs to the words before it.
      const start = /^[A-Z]\. /.test(phrase) ? index + 3 : index
      const textBefore = text.slice(Math.max(0, start - 60), start)
      const named = namedAs(phrase, text, foundEntities)
      // Two letters may be anything, unless they spell the name just before them.
      if (/^[^A-Z]*(?:[A-Z][^A-Z]*){2}$/.test(phrase) && !named) return []
      const isSpelled = named || isNamed(text, index, foundEntities) || repeats(phrase, textBefore)
      if (!isSpelled && !cue.test(textBefore)) return []
      const type = typeOf(textBefore, named)
      return [{ type, from: index, to: index + phrase.length, score: 0.8 }]
    }).flat(),
  )
}

/**
 * Returns whether the letters directly follow a name: "Kowalski, K-O-W-…", "Jarek. That's J as in
 * …".
 */
function isNamed(text: string, index: number, foundEntities: readonly Entity[]): boolean {
  return foundEntities.some(
    ({ to }) => to <= index && /^[\s,.;-]*(?:that's |that is )?$/.test(text.slice(to, index)),
  )
}

/** Returns whether the letters spell the capitalized word before them. */
function repeats(phrase: string, textBefore: string): boolean {
  const [, word] = /(?<!\p{L})(\p{Lu}\p{L}+)[\s,.?-]*$/u.exec(textBefore) ?? []
  return word?.toLowerCase() === spelledWord(phrase)
}

function spelledWord(phrase: string): string {
  return phrase
    .replace(/,? (?:as in|for|like) \p{L}+/gu, '')
    .replace(/double ([A-Z])/g, '$1$1')
    .replace(/[^A-Z]/g, '')
    .toLowerCase()
}

function namedAs(
  phrase: string,
  text: string,
  foundEntities: readonly Entity[],
): EntityType | undefined {
  const word = spelledWord(phrase)
  return foundEntities.find(({ from, to }) => text.slice(from, to).toLowerCase() === word)?.type
}

function typeOf(textBefore: string, named: EntityType | undefined): EntityType {
  if (named) return named === 'NAME_GIVEN' ? named : 'NAME_FAMILY'
  const [first] = [...textBefore.matchAll(/\b(first|given|last|sur|family)/gi)].at(-1) ?? []
  return first && /first|given/i.test(first) ? 'NAME_GIVEN' : 'NAME_FAMILY'
}
