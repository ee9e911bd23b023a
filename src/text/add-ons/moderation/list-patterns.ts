import { readFileSync } from 'node:fs'
import { foldWord } from '../../words/word-parts.ts'

const patterns = new Map<string, RegExp>()

/**
 * Returns a pattern that finds the entries of a word list in English text folded by `foldForLists`.
 * It matches whole words only, so Scunthorpe is not flagged. The list is read on first use.
 */
export function listPattern(list: 'profanity' | 'slurs'): RegExp {
  let pattern = patterns.get(list)
  if (!pattern) {
    const text = readFileSync(new URL(`../../words/lists/${list}.txt`, import.meta.url), 'utf8')
    const entries = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const alternatives = entries.map((entry) => entry.replace(/\*$/, '[a-z]*')).join('|')
    pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${alternatives})(?![\\p{L}\\p{N}])`, 'u')
    patterns.set(list, pattern)
  }
  return pattern
}

/**
 * Normalizes a text: lower case, straight apostrophes, and one space in place of hyphens and
 * punctuation between words.
 */
export function foldForLists(text: string): string {
  const folded = foldWord(text)
  return folded.replaceAll(/[^\p{L}\p{M}\p{N}'*]+/gu, ' ').trim()
}
