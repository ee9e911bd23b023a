import { createHash } from 'node:crypto'
import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/** Returns the words of an utterance without the spaces before them. */
export function bareWords({ language, words }: Pick<UtteranceView, 'language' | 'words'>) {
  const isSpaced = separatorOf(language) !== ''
  return words.map(({ word }) => (isSpaced ? word.trim() : word))
}

/** Returns the text of a range of words, as copied from the transcript. */
export function textOfRange(
  { words }: Pick<UtteranceView, 'words'>,
  { from, to }: { from: number; to: number },
): string {
  const text = words.slice(from, to).map(({ word }) => word)
  return cleanSpaces(text.join(''))
}

/** Replaces control characters and runs of spaces by one space, and trims both ends. */
export function cleanSpaces(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
}

/**
 * Returns a hash of the words and of the starts of utterances; corrections apply only to the same
 * ones.
 */
export function hashWords(utterances: readonly UtteranceView[]): string {
  const hash = createHash('sha256')
  for (const { words } of utterances) {
    hash.update(JSON.stringify(words.map(({ word }) => word)))
    hash.update('\n')
  }
  return hash.digest('base64url')
}
