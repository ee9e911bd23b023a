/** A first piece with fewer letters is weak evidence for the word: it gets a part of the bonus. */
const FULL_LETTERS = 3
/** Entries with fewer letters would match parts of everything. */
const MIN_LETTERS = 3
/** SentencePiece writes a space as this character. */
const WORD_BOUNDARY = '\u2581'

/** The token pieces of a model, indexed to find the words of any vocabulary. */
type TokenPieces = { readonly pieces: readonly string[]; readonly root: PieceNode }

/** A node of the trie of pieces, by letter in lower case; `tokens` are the pieces that end here. */
type PieceNode = { next: Map<string, PieceNode>; tokens: number[] }

/**
 * A node of the trie of vocabulary words, in lower case: the sorted words from `from` to `to`
 * (exclusive), which begin with the same `length` code units. Its children are computed when it is
 * visited: a list of ten thousand entries has half a million nodes, and a text visits some hundred.
 */
type WordNode = {
  readonly words: readonly string[]
  readonly from: number
  readonly to: number
  readonly length: number
  next?: ReadonlyMap<string, WordNode>
  steps?: Map<number, WordNode>
}

/**
 * Words and phrases that a decoder prefers; `boost` are the nats for the first piece of a match.
 */
export type VocabularyBias = {
  readonly pieces: TokenPieces
  readonly root: WordNode
  readonly boost: number
}

/**
 * Prepares the pieces of a model, by token; empty for tokens that print nothing. A piece that
 * begins a word begins with U+2581.
 */
export function preparePieces(pieces: readonly string[]): TokenPieces {
  const root: PieceNode = { next: new Map(), tokens: [] }
  for (const [token, piece] of pieces.entries()) {
    if (piece === '') continue
    let node = root
    for (const letter of piece.toLowerCase()) node = pieceBelow(node, letter)
    node.tokens.push(token)
  }
  return { pieces, root }
}

function pieceBelow(node: PieceNode, letter: string): PieceNode {
  let next = node.next.get(letter)
  if (!next) {
    next = { next: new Map(), tokens: [] }
    node.next.set(letter, next)
  }
  return next
}

/**
 * Returns the bias towards some words and phrases, in any case and any division into pieces;
 * undefined when none has the three letters it needs.
 */
export function createBias(
  pieces: TokenPieces,
  vocabulary: readonly string[],
  boost: number,
): VocabularyBias | undefined {
  const words = vocabulary.flatMap((entry) => {
    if ((entry.match(/[\p{L}\p{N}]/gu) ?? []).length < MIN_LETTERS) return []
    const parts = entry.normalize('NFC').toLowerCase().match(/\S+/g) ?? []
    return [WORD_BOUNDARY + parts.join(WORD_BOUNDARY)]
  })
  if (words.length === 0) return undefined
  const root: WordNode = { words: words.sort(), from: 0, to: words.length, length: 0 }
  return { pieces, root, boost }
}

/** Returns the nodes below one, by the letter that leads to them. */
function nodesBelow(node: WordNode): ReadonlyMap<string, WordNode> {
  if (node.next) return node.next
  const { words, length } = node
  const next = new Map<string, WordNode>()
  for (let from = node.from; from < node.to; ) {
    const letter = letterAt(words[from]!, length)
    let to = from + 1
    while (to < node.to && letterAt(words[to]!, length) === letter) to++
    if (letter !== '') next.set(letter, { words, from, to, length: length + letter.length })
    from = to
  }
  node.next = next
  return next
}

function letterAt(word: string, place: number): string {
  const point = word.codePointAt(place)
  return point === undefined ? '' : String.fromCodePoint(point)
}

/**
 * Returns true if a vocabulary word ends here; of words with the same beginning, the shortest comes
 * first.
 */
function isEntryEnd({ words, from, length }: WordNode): boolean {
  return words[from]!.length === length
}

/**
 * Returns a function that returns the bias towards a vocabulary. It caches the last one, since the
 * tasks of one job share their vocabulary. The pieces (see `preparePieces`) are prepared with the
 * first vocabulary.
 */
export function memoizeBias(
  list: readonly string[],
  boost: number,
): (vocabulary: readonly string[]) => VocabularyBias | undefined {
  let pieces: TokenPieces | undefined
  let [lastKey, last] = ['', undefined as VocabularyBias | undefined]
  return (vocabulary) => {
    if (vocabulary.length === 0) return undefined
    pieces ??= preparePieces(list)
    const key = vocabulary.join('\n')
    if (key !== lastKey) [lastKey, last] = [key, createBias(pieces, vocabulary, boost)]
    return last
  }
}

/** A vocabulary word of which the text has written a part. */
type PartialEntry = {
  node: WordNode
  /** The number of its pieces that are written. */
  depth: number
  /** Where the bias first changed the choice of the decoder, if it did. */
  changedAt: number | undefined
}

/** Tracks the vocabulary words in one text while a greedy decoder writes it. */
export type BiasedText = {
  /**
   * Chooses the next token. `likeliest` is the choice of the model by `logits`. Returns `likeliest`
   * where no vocabulary word is nearly as likely, and always when `likeliest` prints nothing: an
   * end stays an end, so that no word is invented where nothing is said.
   */
  choose(logits: Float32Array, likeliest: number): number
  /**
   * Records the written token and the model's own choice; `end` at the end of the text. Returns the
   * position to rewind to when a vocabulary word was begun against the model's choice and not
   * finished.
   */
  write(token: number | 'end', likeliest?: number): number | undefined
}

/**
 * Follows one text. The bonus of a piece grows with its depth in the match, boost × (1 + ln depth)
 * (as in tree-based shallow fusion, for example arXiv 2508.07014). A greedy decoder cannot compare
 * two texts, so it rewinds an unfinished match: it writes the text again from that position, which
 * is then one of `unbiasedPositions`, where the bias does not apply.
 */
export function followBias(
  { pieces, root, boost }: VocabularyBias,
  unbiasedPositions: ReadonlySet<number>,
): BiasedText {
  let matches: PartialEntry[] = []
  let place = 0
  let written = ''
  const starts = () => (/[\p{L}\p{N}]$/u.test(written) ? [root] : [root, afterSpace(root)])
  return {
    choose(logits, likeliest) {
      const piece = pieces.pieces[likeliest] ?? ''
      if (piece === '' || unbiasedPositions.has(place)) return likeliest
      let [best, max] = [likeliest, logits[likeliest]!]
      const weigh = (node: WordNode, depth: number) => {
        for (const token of stepsFrom(node, pieces).keys()) {
          const score = logits[token]! + boost * bonusOf(depth, pieces.pieces[token]!)
          if (score > max) [best, max] = [token, score]
        }
      }
      for (const { node, depth } of matches) weigh(node, depth + 1)
      // The bias begins a word only where the model begins one.
      if (piece.startsWith(WORD_BOUNDARY)) weigh(root, 1)
      return best
    },
    write(token, likeliest = -1) {
      const at = place++
      const piece = token === 'end' ? '' : (pieces.pieces[token] ?? '')
      const continuesWord = /^[\p{L}\p{N}]/u.test(piece)
      const changedAt = token === likeliest || token === 'end' ? undefined : at
      const next: PartialEntry[] = []
      let rewindTo: number | undefined
      for (const match of matches) {
        const isWhole = isEntryEnd(match.node) && !continuesWord
        const node = token === 'end' ? undefined : stepsFrom(match.node, pieces).get(token)
        const before = isWhole ? undefined : match.changedAt
        if (node) next.push({ node, depth: match.depth + 1, changedAt: before ?? changedAt })
        else if (before !== undefined) rewindTo = Math.min(before, rewindTo ?? before)
      }
      for (const start of token === 'end' ? [] : starts()) {
        const node = start && stepsFrom(start, pieces).get(token as number)
        if (node) next.push({ node, depth: 1, changedAt })
      }
      matches = next
      written = piece
      return rewindTo
    },
  }
}

function afterSpace(root: WordNode): WordNode | undefined {
  return nodesBelow(root).get(WORD_BOUNDARY)
}

function bonusOf(depth: number, piece: string): number {
  if (depth > 1) return 1 + Math.log(depth)
  const letters = piece.startsWith(WORD_BOUNDARY) ? piece.length - 1 : piece.length
  return Math.min(1, letters / FULL_LETTERS)
}

/** Returns the tokens that continue the words below `node`, with the nodes that they lead to. */
function stepsFrom(node: WordNode, { root }: TokenPieces): Map<number, WordNode> {
  if (node.steps) return node.steps
  const steps = new Map<number, WordNode>()
  const walk = (piece: PieceNode, word: WordNode) => {
    for (const token of piece.tokens) steps.set(token, word)
    const below = nodesBelow(word)
    const [smaller, larger] =
      piece.next.size < below.size ? [piece.next, below] : [below, piece.next]
    for (const letter of smaller.keys()) {
      if (larger.has(letter)) walk(piece.next.get(letter)!, below.get(letter)!)
    }
  }
  walk(root, node)
  node.steps = steps
  return steps
}
