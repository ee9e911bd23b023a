import { sum } from '../../../numbers.ts'
import type { Word } from '../../../transcript/transcript.ts'
import type { TimedToken } from './decode.ts'

/** Seconds of one encoder frame. */
const FRAME_SECONDS = 0.08
/** SentencePiece writes a blank as this character. */
const WORD_BOUNDARY = '\u2581'

/** A word, and the last of its tokens. */
export type WordOfTokens = Word & { lastToken: number }

/**
 * Joins tokens into words. A word lasts from its first to its last piece with letters or digits:
 * the model counts the pause after a comma as the comma's. Punctuation alone joins the word before
 * it. The confidence is the mean probability of the pieces. `seconds` is the length of the audio.
 */
export function wordsFromTokens(
  tokens: readonly TimedToken[],
  pieces: readonly string[],
  seconds: number,
): WordOfTokens[] {
  const words: WordOfTokens[] = []
  for (let first = 0; first < tokens.length; ) {
    let next = first + 1
    while (next < tokens.length && !opensWord(pieces[tokens[next]!.token]!)) next++
    const wordTokens = tokens.slice(first, next)
    const text = wordTokens
      .map(({ token }) => pieces[token]!)
      .join('')
      .replaceAll(WORD_BOUNDARY, ' ')
      .trim()
    const spoken = wordTokens.filter(({ token }) => /[\p{L}\p{N}]/u.test(pieces[token]!))
    const previous = words.at(-1)
    if (spoken.length > 0) {
      const last = spoken.at(-1)!
      const start = Math.min(spoken[0]!.frame * FRAME_SECONDS, seconds)
      const end = Math.min((last.frame + Math.max(1, last.frames)) * FRAME_SECONDS, seconds)
      const probabilities = spoken.map(({ logProb }) => Math.exp(logProb))
      const confidence = sum(probabilities) / spoken.length
      if (previous) previous.end = Math.max(previous.start, Math.min(previous.end, start))
      words.push({ text, start, end: Math.max(start, end), confidence, lastToken: next - 1 })
    } else if (previous) {
      previous.text += text
      previous.lastToken = next - 1
    }
    first = next
  }
  return words
}

function opensWord(piece: string): boolean {
  return piece.startsWith(WORD_BOUNDARY)
}
