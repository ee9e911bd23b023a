/**
 * Articles, prepositions, possessives and conjunctions, by language: they belong with the next
 * word.
 */
const NO_BREAK_AFTER: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    'en',
    new Set(
      (
        'a an the of to in on at by for with from into and or but nor as than if because ' +
        'my your his her its our their'
      ).split(' '),
    ),
  ],
])

/** Returns whether a word should not be the last of its row: `the`, `of`. */
export function isNoBreakWord(word: string, language: string): boolean {
  return NO_BREAK_AFTER.get(language)?.has(word.toLowerCase()) ?? false
}

/**
 * Returns the price of a break between two words: 0 after a sentence or at the end, 0.3 after a
 * comma, 0.8 elsewhere, 1.2 after a word that leans on the next one. A pause lowers it by its
 * seconds.
 */
export function breakPenalty(last: Chunk, next: Chunk | undefined): number {
  if (!next || /[.!?…。！？؟।]["'”’)」』]?$/.test(last.text)) return 0
  const pause = Math.max(0, next.start - last.end) / 1000
  return Math.max(0, wordPrice(last) - pause)
}

function wordPrice({ text, leans }: Chunk): number {
  if (/[,;:–—，、；：،؛]$/.test(text)) return 0.3
  return leans ? 1.2 : 0.8
}

/**
 * The unit that a caption never breaks: a word with its punctuation. Times are whole milliseconds.
 */
export type Chunk = {
  text: string
  /** The separator before it in a row, unless it opens the row. */
  blank: '' | ' '
  columns: number
  /** Whether a row should not end with it. */
  leans: boolean
  start: number
  end: number
}
