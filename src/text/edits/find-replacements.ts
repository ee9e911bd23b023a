import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { wordSegmenterOf } from '../words/locale.ts'
import type { WordIndexRange, WordReplacement } from './edit-state.ts'
import { timeFor } from './interpolate-times.ts'
import { bareWords, cleanSpaces } from './machine-words.ts'
import { matchWords } from './match-words.ts'

type ChangedRange = WordIndexRange & { words: string[] }

/**
 * Finds what must be replaced so that the words of a range read as `text`. Unchanged words keep
 * their times; where the number of words stays the same, each new word takes the times of the old
 * one. Undefined if the range lasts fewer milliseconds than the text has words.
 */
export function findReplacements(
  utterance: UtteranceView,
  range: WordIndexRange,
  text: string,
): WordReplacement[] | undefined {
  const words = bareWords(utterance).slice(range.from, range.to)
  const cleaned = cleanSpaces(text)
  const isSpaced = separatorOf(utterance.language) !== ''
  const found = isSpaced
    ? compareSpaced(words, cleaned)
    : compareUnspaced(words, cleaned, utterance)
  const changes = withNeighbors(found, words).map(({ from, to, words: newWords }) => {
    return { from: range.from + from, to: range.from + to, words: newWords }
  })
  if (changes.every((change) => isLongEnough(utterance, change))) {
    return changes.flatMap((change) => oneByOne(utterance, change))
  }
  const all = { ...range, words: isSpaced ? split(cleaned) : segment(cleaned, utterance.language) }
  return isLongEnough(utterance, all) ? [all] : undefined
}

function oneByOne(utterance: UtteranceView, change: ChangedRange): ChangedRange[] {
  const { from, to, words } = change
  if (words.length !== to - from) return [change]
  const single = words.map((word, i) => ({ from: from + i, to: from + i + 1, words: [word] }))
  return single.every((singleChange) => isLongEnough(utterance, singleChange)) ? single : [change]
}

function isLongEnough(utterance: UtteranceView, change: ChangedRange): boolean {
  const { start, end } = timeFor(utterance.words, change)
  return end - start >= change.words.length
}

function split(text: string): string[] {
  return text === '' ? [] : text.split(' ')
}

/**
 * Compares texts in languages with spaces. A recognized word may contain spaces, such as `10 000`;
 * it stays if all its parts do.
 */
function compareSpaced(words: readonly string[], text: string): ChangedRange[] {
  const parts = words.map((word) => split(cleanSpaces(word)))
  const starts: number[] = []
  for (let i = 0, at = 0; i < parts.length; at += parts[i++]!.length) starts.push(at)
  const newWords = split(text)
  const places = new Map(matchWords(parts.flat(), newWords).map((old, k) => [old, k]))
  const changes: ChangedRange[] = []
  let from = 0
  let begin = 0
  const addChange = (to: number, end: number) => {
    if (to > from || end > begin) changes.push({ from, to, words: newWords.slice(begin, end) })
  }
  for (const [i, part] of parts.entries()) {
    const first = places.get(starts[i]!)
    const stays =
      first !== undefined &&
      part.length > 0 &&
      part.every((_, p) => places.get(starts[i]! + p) === first + p)
    if (!stays) continue
    addChange(i, first)
    from = i + 1
    begin = first + part.length
  }
  addChange(parts.length, newWords.length)
  return changes
}

/**
 * Compares texts in languages without spaces. People split words differently, so only those at both
 * ends are compared.
 */
function compareUnspaced(
  words: readonly string[],
  text: string,
  { language }: Pick<UtteranceView, 'language'>,
): ChangedRange[] {
  let [from, begin] = [0, 0]
  while (from < words.length && words[from] && text.startsWith(words[from]!, begin)) {
    begin += words[from++]!.length
  }
  let [to, end] = [words.length, text.length]
  while (to > from && words[to - 1]) {
    const next = end - words[to - 1]!.length
    if (next < begin || !text.startsWith(words[to - 1]!, next)) break
    end = next
    to--
  }
  if (from === to && begin === end) return []
  return [{ from, to, words: segment(text.slice(begin, end), language) }]
}

/** Splits text into words; punctuation and spaces stay with the word before them. */
function segment(text: string, language: string): string[] {
  const words: string[] = []
  for (const { segment: part, isWordLike } of wordSegmenterOf(language).segment(text)) {
    if (isWordLike || words.length === 0) words.push(part)
    else words[words.length - 1] += part
  }
  return words
}

/**
 * Extends insertions by the word before, or by the first word of the range: inserted words have no
 * time of their own, and share the time of that word.
 */
function withNeighbors(changes: readonly ChangedRange[], words: readonly string[]): ChangedRange[] {
  const wide: ChangedRange[] = []
  for (const change of changes) {
    const { from, to } = change
    const last = wide.at(-1)
    if (from < to) wide.push(change)
    else if (from === 0) wide.push({ from, to: 1, words: [...change.words, words[0]!] })
    else if (last && last.to === from) last.words = [...last.words, ...change.words]
    else wide.push({ from: from - 1, to, words: [words[from - 1]!, ...change.words] })
  }
  return wide
}
