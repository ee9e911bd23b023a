import type { Word } from '../../../transcript/transcript.ts'

/**
 * Gives words a confidence where a model returns none: the share of a word's letters that the model
 * recognizes again when it decodes the audio a second time, shifted by a part of a frame. If k of n
 * letters are recognized again, the confidence is (k + 1) / (n + 2), the rule of succession, so no
 * word is certain.
 */
export function withConfidence<T extends Word>(words: readonly T[], second: string): T[] {
  const letters = words.flatMap(({ text }, word) => {
    return [...comparableText(text)].map((letter) => ({ letter, word }))
  })
  const matchedLetters = new Map<number, number>()
  const otherCharacters = [...comparableText(second)]
  const matches = longestCommonSubsequence(
    letters.map(({ letter }) => letter),
    otherCharacters,
  )
  for (const place of matches) {
    const { word } = letters[place]!
    matchedLetters.set(word, (matchedLetters.get(word) ?? 0) + 1)
  }
  return words.map((word, i) => {
    const count = [...comparableText(word.text)].length
    return { ...word, confidence: ((matchedLetters.get(i) ?? 0) + 1) / (count + 2) }
  })
}

function comparableText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

/** Returns the indexes in `a` of a longest common subsequence of `a` and `b`. */
function longestCommonSubsequence(a: readonly string[], b: readonly string[]): number[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const skipped = Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
      lengths[i * width + j] = a[i] === b[j] ? lengths[(i + 1) * width + j + 1]! + 1 : skipped
    }
  }
  const places: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      places.push(i)
      i++
      j++
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i++
    else j++
  }
  return places
}
