import { isTextToken, opensWord, tokensToText } from './tokens.ts'

/**
 * A word before its times are refined: the tokens that form it, and its start and end in seconds.
 */
export type UnalignedWord = {
  text: string
  start: number
  end: number
  tokens: { first: number; last: number }
}

/**
 * Joins tokens into words. `starts` holds the start of each token and of the end token, in seconds.
 * A word starts with its first spoken piece and ends where the token after its last spoken piece
 * starts: the pause after a comma belongs to no word. Lone punctuation joins the word before it;
 * other lone signs, such as the notes that stand for music in subtitles, are left out, and so is a
 * quotation mark that opens after the last word: the quotation was not spoken yet.
 */
export function groupTokensIntoWords(
  tokens: readonly number[],
  starts: readonly number[],
): UnalignedWord[] {
  const words: UnalignedWord[] = []
  for (let first = 0; first < tokens.length; ) {
    let next = first + 1
    while (next < tokens.length && !opensWord(tokens[next]!)) next++
    const word = wordOf(tokens, starts, { first, last: next - 1 })
    const previous = words.at(-1)
    if (word) words.push(word)
    else if (previous) {
      const marks = tokensToText(tokens.slice(first, next)).replaceAll(/\p{So}/gu, '')
      const isLast = next === tokens.length
      if (!isLast || marks !== '"' || isQuoteOpen(words)) previous.text += marks
    }
    first = next
  }
  return words
}

function isQuoteOpen(words: readonly UnalignedWord[]): boolean {
  const marks = words.flatMap(({ text }) => text.match(/"/g) ?? [])
  return marks.length % 2 === 1
}

function wordOf(
  tokens: readonly number[],
  starts: readonly number[],
  range: UnalignedWord['tokens'],
): UnalignedWord | undefined {
  const wordTokens = tokens.slice(range.first, range.last + 1)
  const text = tokensToText(wordTokens)
  const firstWordToken = wordTokens.findIndex(isTextToken)
  // Bytes count as spoken: they may be letters.
  if (firstWordToken < 0 || !/[\p{L}\p{N}]/u.test(text)) return undefined
  const lastWordAt = wordTokens.findLastIndex(isTextToken)
  const start = starts[range.first + firstWordToken]!
  const end = Math.max(start, starts[range.first + lastWordAt + 1]!)
  return { text, start, end, tokens: range }
}
