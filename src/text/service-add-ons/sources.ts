import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript, Word } from '../../transcript/transcript.ts'
import type { Source } from '../result/steps/envelope.ts'
import { normalizeUnicode } from '../words/normalize.ts'

/**
 * Finds where each text was first spoken, within one utterance; it ignores letter case, punctuation
 * and accents. Texts that were not spoken have no source.
 */
export function findSources(transcript: Transcript, texts: readonly string[]): Source[] {
  if (texts.length === 0) return []
  const utterances = transcript.utterances.map(({ words, channel }) => {
    return { letters: comparableLetters(words.map(({ text }) => text).join('')), words, channel }
  })
  return [...new Set(texts)].flatMap((text) => {
    const sought = comparableLetters(text)
    if (sought === '') return []
    for (const { letters, words, channel } of utterances) {
      if (!letters.includes(sought)) continue
      const { starts, ends } = indexWords(words)
      for (let at = letters.indexOf(sought); at >= 0; at = letters.indexOf(sought, at + 1)) {
        const first = starts.get(at)
        const last = ends.get(at + sought.length)
        if (!first || !last) continue
        return [{ text, start: roundTo(first.start, 3), end: roundTo(last.end, 3), channel }]
      }
    }
    return []
  })
}

/** Returns the texts in quotation marks. */
export function quotesIn(text: string): string[] {
  const quotes = text.matchAll(/"([^"\n]+)"|“([^”\n]+)”|„([^“\n]+)“|«([^»\n]+)»|「([^」\n]+)」/g)
  return [...quotes].map((found) => found.slice(1).find((quote) => quote !== undefined)!)
}

/** Returns the words that begin and end at each position in the sequence of all letters. */
function indexWords(words: readonly Word[]) {
  const starts = new Map<number, Word>()
  const ends = new Map<number, Word>()
  let length = 0
  for (const word of words) {
    const letters = comparableLetters(word.text)
    if (letters === '') continue
    starts.set(length, word)
    length += letters.length
    ends.set(length, word)
  }
  return { starts, ends }
}

function comparableLetters(text: string): string {
  return normalizeUnicode(text, 'NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
}
