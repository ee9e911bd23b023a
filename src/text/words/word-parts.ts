import type { Word } from '../../transcript/transcript.ts'
import { normalizeUnicode } from './normalize.ts'
import { trailingFrom } from './trailing.ts'

/**
 * The parts of a word: punctuation before it, its core, a possessive 's, and punctuation after it.
 */
export type WordParts = { before: string; core: string; possessive: string; after: string }

/** The length of a possessive and the character before it, in code units. */
const POSSESSIVE_LENGTH = 4

/**
 * Splits a word into parts; joined in order, they are the text again. `core` is empty if the word
 * has no letter or digit.
 */
export function wordPartsOf(text: string): WordParts {
  const at = text.search(/[\p{L}\p{N}]/u)
  if (at < 0) return { before: text, core: '', possessive: '', after: '' }
  const after = text.slice(trailingFrom(text, /[^\p{L}\p{M}\p{N}]/u))
  const inner = text.slice(at, text.length - after.length)
  const possessive = /(?<=.)['’]s$/iu.exec(inner.slice(-POSSESSIVE_LENGTH))?.[0] ?? ''
  const core = inner.slice(0, inner.length - possessive.length)
  return { before: text.slice(0, at), core, possessive, after }
}

/** Returns the form in which texts are compared: composed (NFC) and in lower case. */
export function foldCase(text: string): string {
  return normalizeUnicode(text, 'NFC').toLowerCase()
}

/** Returns the form in which words are compared: `foldCase`, with straight apostrophes. */
export function foldWord(text: string): string {
  return foldCase(text).replaceAll('’', "'")
}

/**
 * Returns one word that replaces `words`, from their first start to their last end, with their mean
 * confidence.
 */
export function mergeWords(words: readonly Word[], text: string): Word {
  const { start } = words[0]!
  const end = words.reduce((last, word) => Math.max(last, word.end), Number.NEGATIVE_INFINITY)
  const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length
  return { text, start, end, confidence }
}

/**
 * Returns `value` with the punctuation around the words that it replaces. Punctuation that `value`
 * has itself is not repeated.
 */
export function withPunctuation(
  value: string,
  { before, after }: { before: string; after: string },
): string {
  const parts = wordPartsOf(value)
  const head =
    parts.before !== '' && before.endsWith(parts.before)
      ? before.slice(0, -parts.before.length)
      : before
  const tail =
    parts.after !== '' && after.startsWith(parts.after) ? after.slice(parts.after.length) : after
  return head + value.trim().replace(/\s+/gu, ' ') + tail
}
