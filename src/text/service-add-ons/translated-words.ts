import { separatorOf } from '../../transcript/separators.ts'
import type { Word } from '../../transcript/transcript.ts'
import { wordSegmenterOf } from '../words/locale.ts'

/**
 * The words of a translation with times: one by one, for captions and sentences, and as the
 * utterance shows them.
 */
export type TimedWords = { words: Word[]; shown: Word[] }

/** Distributes the words of a translation over the time of its utterance, by their length. */
export function interpolateWordTimes(
  text: string,
  original: readonly Word[],
  language: string,
): TimedWords {
  const [first, last] = [original[0], original.at(-1)]
  if (!first || !last) return { words: [], shown: [] }
  const span = { start: first.start, end: last.end, confidence: meanConfidence(original) }
  const words = spreadOver(span, tokenize(text, language))
  return { words, shown: words }
}

/**
 * Gives each word of a translation the time of the original word at the same relative position, so
 * that the words match pauses and lip movements (`lipsync`). Words that share an original word
 * become one.
 */
export function followWords(text: string, original: readonly Word[], language: string): TimedWords {
  if (original.length === 0) return { words: [], shown: [] }
  const ends = shareEnds(original.map((word) => word.text))
  const tokens = tokenize(text, language)
  const tokenEnds = shareEnds(tokens)
  /** The words of the translation by the index of the original word at which they begin. */
  const parts = new Map<number, string[]>()
  let at = 0
  for (const [i, token] of tokens.entries()) {
    const middle = ((tokenEnds[i - 1] ?? 0) + tokenEnds[i]!) / 2
    while (at < original.length - 1 && ends[at]! <= middle) at++
    // The first word begins when the utterance does.
    const from = parts.size === 0 ? 0 : at
    parts.set(from, [...(parts.get(from) ?? []), token])
  }
  const starts = [...parts.keys()]
  const words: Word[] = []
  const shown = starts.map((from, n): Word => {
    const covered = original.slice(from, starts[n + 1])
    const texts = parts.get(from)!
    const times = { start: covered[0]!.start, end: covered.at(-1)!.end }
    const span = { ...times, confidence: meanConfidence(covered) }
    words.push(...spreadOver(span, texts))
    return { text: texts.join(separatorOf(language)), ...span }
  })
  return { words, shown }
}

/** Returns where each text ends, as a fraction of all texts. */
function shareEnds(texts: readonly string[]): number[] {
  const total = texts.reduce((sum, text) => sum + text.length, 0)
  let before = 0
  return texts.map((text) => {
    before += text.length
    return before / total
  })
}

function spreadOver(
  { start, end, confidence }: Omit<Word, 'text'>,
  texts: readonly string[],
): Word[] {
  const ends = shareEnds(texts).map((share) => start + (end - start) * share)
  return texts.map((text, i) => ({ text, start: ends[i - 1] ?? start, end: ends[i]!, confidence }))
}

function meanConfidence(words: readonly Word[]): number {
  return words.reduce((sum, word) => sum + word.confidence, 0) / words.length
}

function tokenize(text: string, language: string): string[] {
  const tokens = text.split(/\s+/).filter((token) => token !== '')
  if (separatorOf(language) === ' ') return tokens
  const words = wordSegmenterOf(language)
  return tokens.flatMap((token) => wordsIn(token, words))
}

/**
 * Splits a text into words. Punctuation belongs to the word before it; an opening mark, such as a
 * quote, to the word after it.
 */
function wordsIn(text: string, segmenter: Intl.Segmenter): string[] {
  const words: string[] = []
  let opening = ''
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (isWordLike) {
      words.push(opening + segment)
      opening = ''
    } else if (words.length === 0 || opening !== '' || /^[\p{Ps}\p{Pi}]/u.test(segment)) {
      opening += segment
    } else words[words.length - 1] += segment
  }
  return opening === '' ? words : [...words, opening]
}
