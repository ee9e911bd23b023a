/** Entries with fewer letters would match parts of everything. */
const MIN_LETTERS = 3

/**
 * Writes the vocabulary as the hotwords of a sherpa-onnx stream: phrases separated by slashes, in
 * the letter case of the model's pieces. Returns undefined when no word can be written in the
 * pieces.
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

/**
 * Returns true if pieces make up the word, tried longest first, and the word does not begin with a
 * sign that has a meaning in sherpa-onnx's hotwords.
 */
function isWritable(word: string, knownPieces: ReadonlySet<string>, longest: number): boolean {
  if (/^[:#@]/.test(word)) return false
  const hasWordStarts = [...knownPieces].some((piece) => piece.startsWith(' '))
  const prefixed = hasWordStarts && !/\p{Script=Han}/u.test(word) ? ` ${word}` : word
  for (let at = 0; at < prefixed.length; ) {
    let end = Math.min(prefixed.length, at + longest)
    while (end > at && !knownPieces.has(prefixed.slice(at, end))) end--
    if (end === at) return false
    at = end
  }
  return true
}

/**
 * Returns the `bpe.vocab` with which sherpa-onnx splits words into pieces, for models that come
 * without one: SentencePiece numbers its pieces by rank, and a piece's score is minus its rank.
 * Undefined for models of single characters, which need none.
 */
export function writeBpeVocabulary(pieces: readonly string[]): string | undefined {
  if (!pieces.some((piece) => /^ \S/.test(piece))) return undefined
  const lines = pieces.map((piece, rank) => `${piece.replace(/^ /, '\u2581')}\t${-rank}`)
  return `${lines.join('\n')}\n`
}
