import { readFileSync } from 'node:fs'

/** The id that begins every decoding, and the one that ends it. */
export const START_TOKEN = 1
export const END_TOKEN = 2
/** Ids from here on are special and never printed; the vocabulary below is that of Llama. */
const FIRST_SPECIAL_TOKEN = 32_000
/** Ids 3 to 258 represent the bytes 0 to 255. */
const FIRST_BYTE_TOKEN = 3
const FIRST_PIECE_TOKEN = 259
/** SentencePiece writes a space as this character. */
const WORD_BOUNDARY = '\u2581'

/** The pieces by token id; the first line of the file states its origin. */
const pieces = readFileSync(new URL('vocabulary.txt', import.meta.url), 'utf8')
  .split('\n')
  .slice(1)
const encoder = new TextEncoder()

/** Returns true when `token` begins a new word: its piece begins with a space. */
export function opensWord(token: number): boolean {
  return isPiece(token) && pieces[token]!.startsWith(WORD_BOUNDARY)
}

/** Returns true when `token` prints letters or digits, not only punctuation or spaces. */
export function isTextToken(token: number): boolean {
  if (token >= FIRST_BYTE_TOKEN && token < FIRST_PIECE_TOKEN) return true
  return isPiece(token) && /[\p{L}\p{N}]/u.test(pieces[token]!)
}

/** Returns the text of some tokens, trimmed; drops bytes that form no character. */
export function tokensToText(tokens: readonly number[]): string {
  const bytes = tokens.flatMap((token) => {
    if (token >= FIRST_BYTE_TOKEN && token < FIRST_PIECE_TOKEN) return [token - FIRST_BYTE_TOKEN]
    return isPiece(token) ? [...encoder.encode(pieces[token]!.replaceAll(WORD_BOUNDARY, ' '))] : []
  })
  return new TextDecoder().decode(Uint8Array.from(bytes)).replaceAll('\uFFFD', '').trim()
}

/**
 * Returns the tokens of a text, as byte-pair encoding writes them: in each word, the neighbors that
 * form the piece with the lowest id are joined until none do (SentencePiece,
 * https://arxiv.org/abs/1808.06226). Characters without a piece become bytes.
 */
export function textToTokens(text: string): number[] {
  const words = text.match(/\S+/g) ?? []
  return words.flatMap((word) => {
    return piecesOf(WORD_BOUNDARY + word).flatMap((piece) => {
      const bytes = () => Array.from(encoder.encode(piece), (byte) => FIRST_BYTE_TOKEN + byte)
      return tokenOf(piece) ?? bytes()
    })
  })
}

function piecesOf(word: string): string[] {
  const parts = Array.from(word)
  for (;;) {
    let [best, at] = [Number.POSITIVE_INFINITY, 0]
    for (let i = 0; i + 1 < parts.length; i++) {
      const token = tokenOf(parts[i]! + parts[i + 1]!) ?? best
      if (token < best) [best, at] = [token, i]
    }
    if (best === Number.POSITIVE_INFINITY) return parts
    parts.splice(at, 2, parts[at]! + parts[at + 1]!)
  }
}

let tokensByPiece: Map<string, number> | undefined

function tokenOf(piece: string): number | undefined {
  tokensByPiece ??= new Map(tokenPieces().map((piece, token) => [piece, token]))
  return tokensByPiece.get(piece)
}

/** Returns the pieces by token; empty for those that are bytes or special. */
export function tokenPieces(): string[] {
  return pieces.map((piece, token) => (isPiece(token) ? piece : ''))
}

const FOREIGN = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u

/**
 * The tokens that end or continue an English text, ascending. Without this limit, the model rarely
 * writes letters of another script where speech is unclear.
 */
export const englishTokens = Uint32Array.from(
  pieces.flatMap((piece, token) => {
    const isForeign = isPiece(token) && FOREIGN.test(piece)
    return token < END_TOKEN || token >= FIRST_SPECIAL_TOKEN || isForeign ? [] : [token]
  }),
)

function isPiece(token: number): boolean {
  return token >= FIRST_PIECE_TOKEN && token < FIRST_SPECIAL_TOKEN
}
