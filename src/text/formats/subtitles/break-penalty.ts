import { abbreviationOf } from '../../words/sentences/abbreviations.ts'
import { sentenceEnds } from '../../words/sentences/sentence-ends.ts'
import { wordPartsOf } from '../../words/word-parts.ts'

/**
 * Articles, prepositions, possessives and conjunctions, by language: a row should not end with one.
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

/**
 * Returns whether a word should not be the last of its row: a word such as `the` or `of`, or an
 * abbreviation that the words `following` continue (Dr. Lee, St. Mary).
 */
export function isNoBreakWord(
  word: string,
  following: readonly (string | undefined)[],
  language: string,
): boolean {
  if (NO_BREAK_AFTER.get(language)?.has(word.toLowerCase())) return true
  const { core, after } = wordPartsOf(word)
  if (after !== '.' || abbreviationOf(core, language) === undefined) return false
  const texts = [word, ...following.filter((text) => text !== undefined)]
  return texts.length > 1 && !sentenceEnds(texts, language)[0]
}

/**
 * Returns the penalty of a break between two words: 0 after a sentence or at the end, 0.3 after a
 * comma, 0.8 elsewhere, 1.2 after a word that belongs to the next one. A pause reduces it by its
 * length in seconds.
 */
export function breakPenalty(last: TextChunk, next: TextChunk | undefined): number {
  if (!next || (!last.leans && /[.!?…。！？؟।]["'”’)」』]?$/.test(last.text))) return 0
  const pause = Math.max(0, next.start - last.end) / 1000
  return Math.max(0, wordPenalty(last) - pause)
}

function wordPenalty({ text, leans }: TextChunk): number {
  if (/[,;:–—，、；：،؛]$/.test(text)) return 0.3
  return leans ? 1.2 : 0.8
}

/**
 * The unit that a caption never breaks: a word with its punctuation. Times are whole milliseconds.
 */
export type TextChunk = {
  text: string
  /** The separator before it, unless it begins a row. */
  space: '' | ' '
  columns: number
  /** Whether a row should not end with it, because it belongs to the next word. */
  leans: boolean
  start: number
  end: number
}
