/** Entries with fewer letters would match parts of everything. */
const MIN_LETTERS = 3

/**
 * Writes listed words in the form that sherpa-onnx takes for one stream: phrases with slashes
 * between, in the case that the pieces of the model have. Returns undefined when no word can be
 * written in the pieces.
 */
export function encodeHotwords(
  vocabulary: readonly string[],
  pieces: readonly string[],
): string | undefined {
  const knownPieces = new Set(pieces.filter((piece) => piece !== '' && !/^<.*>$/.test(piece)))
  const longest = Math.max(0, ...[...knownPieces].map((piece) => piece.length))
  const phrases = vocabulary.flatMap((entry) => {
    const words = entry.normalize('NFC').replaceAll('/', ' ').match(/\S+/g) ?? []
    if ((entry.match(/[\p{L}\p{N}]/gu) ?? []).length < MIN_LETTERS) return []
    for (const cased of [words, words.map(upper), words.map(lower)]) {
      if (cased.every((word) => isWritable(word, knownPieces, longest))) return [cased.join(' ')]
    }
    return []
  })
  return phrases.length > 0 ? phrases.join('/') : undefined
}

const upper = (word: string) => word.toUpperCase()
const lower = (word: string) => word.toLowerCase()

/** Whether pieces make up a word, the longest first; signs that mean something there do not. */
function isWritable(word: string, knownPieces: ReadonlySet<string>, longest: number): boolean {
  if (/^[:#@]/.test(word)) return false
  const opens = [...knownPieces].some((piece) => piece.startsWith(' '))
  const opened = opens && !/\p{Script=Han}/u.test(word) ? ` ${word}` : word
  for (let at = 0; at < opened.length; ) {
    let end = Math.min(opened.length, at + longest)
    while (end > at && !knownPieces.has(opened.slice(at, end))) end--
    if (end === at) return false
    at = end
  }
  return true
}

/**
 * Returns the list with which sherpa-onnx divides words into pieces, for models that come without
 * one: SentencePiece numbers its pieces by rank, and a piece's score is minus its rank. Undefined
 * for models of single characters, which need none.
 */
export function divisionOf(pieces: readonly string[]): string | undefined {
  if (!pieces.some((piece) => /^ \S/.test(piece))) return undefined
  const lines = pieces.map((piece, rank) => `${piece.replace(/^ /, '\u2581')}\t${-rank}`)
  return `${lines.join('\n')}\n`
}
