import type { Word } from '../../transcript/transcript.ts'
import { normalize } from './normalize.ts'
import { trailingFrom } from './trailing.ts'

/** The text of a word in parts: marks before it, its letters, a possessive 's, marks behind it. */
export type WordParts = { before: string; core: string; possessive: string; after: string }

/** A possessive and the character before it, in code units. */
const POSSESSIVE = 4

/** Takes a word apart; joined in order the parts are the text again. `core` is empty where there is no letter or digit. */
export function partsOf(text: string): WordParts {
  const at = text.search(/[\p{L}\p{N}]/u)
  if (at < 0) return { before: text, core: '', possessive: '', after: '' }
  const after = text.slice(trailingFrom(text, /[^\p{L}\p{M}\p{N}]/u))
  const inner = text.slice(at, text.length - after.length)
  const possessive = /(?<=.)['’]s$/iu.exec(inner.slice(-POSSESSIVE))?.[0] ?? ''
  const core = inner.slice(0, inner.length - possessive.length)
  return { before: text.slice(0, at), core, possessive, after }
}

/** The form in which texts are compared: composed, in lower case. */
export function foldCase(text: string): string {
  return normalize(text, 'NFC').toLowerCase()
}

/** One word in the place of `words`, from their first start to their last end, with their mean confidence. */
export function replaceWords(words: readonly Word[], text: string): Word {
  const { start } = words[0]!
  const end = words.reduce((last, word) => Math.max(last, word.end), Number.NEGATIVE_INFINITY)
  const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length
  return { text, start, end, confidence }
}

/** `value` between the marks around what it replaces; marks that it has itself are not doubled. */
export function withPunctuation(
  value: string,
  { before, after }: { before: string; after: string },
): string {
  const own = partsOf(value)
  const head =
    own.before !== '' && before.endsWith(own.before) ? before.slice(0, -own.before.length) : before
  const tail =
    own.after !== '' && after.startsWith(own.after) ? after.slice(own.after.length) : after
  return head + value.trim().replace(/\s+/gu, ' ') + tail
}
