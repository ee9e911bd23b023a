import type { WhisperConfig } from './whisper-config.ts'

/** The tokens `first` to `last` (inclusive) of a text, which form a word or a character. */
export type TokenRange = { text: string; first: number; last: number }

/** Turns tokens of a Whisper model into text and back. */
export type WhisperTokenizer = {
  /** Returns the text of tokens; special tokens and incomplete characters print nothing. */
  textOf(tokens: readonly number[]): string
  /**
   * Splits tokens at words, or at characters in languages that are written without spaces.
   * Punctuation joins the word that it belongs to; every token is in one range.
   */
  wordsOf(tokens: readonly number[], language: string): TokenRange[]
  /** Returns the tokens of a text, by merging its bytes. */
  encode(text: string): number[]
}

/** Languages written without spaces between words, as in openai/whisper `tokenizer.py`. */
const WITHOUT_SPACES = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue'])
/** Punctuation that belongs to the word after it, and to the one before it. */
const OPENING = `"'“¿([{-`
const CLOSING = `"'.。,，!！?？:：”)]}、`
/** The pattern by which GPT-2 splits a text before it merges bytes. */
const PARTS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu

/** Returns true where `language` is written without spaces between words. */
export function isWrittenWithoutSpaces(language: string): boolean {
  return WITHOUT_SPACES.has(language)
}

/** Creates a tokenizer; `vocabulary` holds the byte-level piece of each token, by id. */
export function createTokenizer(
  vocabulary: readonly string[],
  { tokens: { end } }: Pick<WhisperConfig, 'tokens'>,
): WhisperTokenizer {
  const pieces = vocabulary.slice(0, end).map(tokenBytes)
  const ids = new Map(vocabulary.slice(0, end).map((piece, id) => [piece, id]))

  const bytes = (tokens: readonly number[]) =>
    Uint8Array.from(tokens.flatMap((token) => [...(pieces[token] ?? [])]))
  const textOf = (tokens: readonly number[]) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(tokens)).replaceAll('\uFFFD', '')

  return {
    textOf,
    wordsOf(tokens, language) {
      const characters = splitAtCharacters(tokens, pieces).map((range) => {
        return { ...range, text: textOf(tokens.slice(range.first, range.last + 1)) }
      })
      const words = WITHOUT_SPACES.has(language) ? characters : joinAtSpaces(characters)
      return joinPunctuation(words)
    },
    encode(text) {
      return [...text.matchAll(PARTS)].flatMap(([part]) => {
        return mergeBytes(
          [...new TextEncoder().encode(part)].map((byte) => LETTERS[byte]!),
          ids,
        )
      })
    },
  }
}

/**
 * Each byte as a printable character, which is how GPT-2 writes its vocabulary: the printable ones
 * of Latin 1 as they are, the others from U+0100 on.
 */
const LETTERS = byteLetters()
const BYTES = new Map(LETTERS.map((letter, byte) => [letter, byte]))

function byteLetters(): string[] {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad)
    return String.fromCharCode(isPrintable ? byte : next++)
  })
}

function tokenBytes(piece: string): number[] {
  return [...piece].flatMap((letter) => BYTES.get(letter) ?? [])
}

type TokenBounds = { first: number; last: number }

/** Ends a range wherever the bytes so far form whole characters. */
function splitAtCharacters(
  tokens: readonly number[],
  pieces: readonly (readonly number[])[],
): TokenBounds[] {
  const ranges: TokenBounds[] = []
  let first = 0
  let missing = 0
  for (const [i, token] of tokens.entries()) {
    for (const byte of pieces[token] ?? []) {
      if (byte >= 0xc0) missing = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1
      else if (byte >= 0x80) missing = Math.max(0, missing - 1)
      else missing = 0
    }
    if (missing > 0 && i + 1 < tokens.length) continue
    ranges.push({ first, last: i })
    first = i + 1
    missing = 0
  }
  return ranges
}

/** A word begins where a piece begins with a space: "L'été" and "T-Rex" are one word. */
function joinAtSpaces(pieces: readonly TokenRange[]): TokenRange[] {
  const words: TokenRange[] = []
  for (const piece of pieces) {
    const previous = words.at(-1)
    if (!previous || piece.text.startsWith(' ')) words.push({ ...piece })
    else words[words.length - 1] = joinTokenRanges(previous, piece)
  }
  return words
}

function joinPunctuation(words: readonly TokenRange[]): TokenRange[] {
  const tokenRanges: TokenRange[] = []
  for (const word of words) {
    const previous = tokenRanges.at(-1)
    if (!previous) {
      tokenRanges.push({ ...word })
      continue
    }
    const bare = word.text.trim()
    const isClosing = bare === '' || (!word.text.startsWith(' ') && consistsOf(bare, CLOSING))
    // An opening mark stands after a space, or opens the text.
    const opened = previous.text.startsWith(' ') || previous.first === 0
    const isOpened =
      opened && !word.text.startsWith(' ') && consistsOf(previous.text.trim(), OPENING)
    if (isClosing || isOpened) tokenRanges[tokenRanges.length - 1] = joinTokenRanges(previous, word)
    else tokenRanges.push({ ...word })
  }
  return tokenRanges
}

function consistsOf(text: string, marks: string): boolean {
  return text !== '' && [...text].every((mark) => marks.includes(mark))
}

function joinTokenRanges(before: TokenRange, following: TokenRange): TokenRange {
  return { text: before.text + following.text, first: before.first, last: following.last }
}

/** Joins neighbors as long as they form a token, the one with the lowest id first. */
function mergeBytes(letters: readonly string[], ids: ReadonlyMap<string, number>): number[] {
  const parts = [...letters]
  for (;;) {
    let best = -1
    let lowest = Number.POSITIVE_INFINITY
    for (let i = 0; i + 1 < parts.length; i++) {
      const id = ids.get(parts[i]! + parts[i + 1]!)
      if (id !== undefined && id < lowest) [best, lowest] = [i, id]
    }
    if (best < 0) return parts.flatMap((part) => ids.get(part) ?? [])
    parts.splice(best, 2, parts[best]! + parts[best + 1]!)
  }
}
