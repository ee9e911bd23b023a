import { splitWords } from '../../recognition/word-times/group-letters.ts'
import {
  extendShortWords,
  MIN_WORD_SECONDS,
} from '../../recognition/word-times/implausible-words.ts'

/** A text with its times, in seconds from the start of the audio. */
export type TimedText = { text: string; start: number; end: number }

type TimedWordConfidence = TimedText & { confidence: number }

/**
 * Returns words with times that ascend, do not overlap and lie within `seconds`: words whose times
 * are missing or out of order get times between their neighbors. Punctuation that only `text` has
 * goes to its words.
 */
export function locateWords(
  words: readonly TimedText[],
  { text, seconds }: { text: string; seconds: number },
): TimedText[] {
  const texts = addPunctuation(
    words.map((word) => word.text),
    text,
  )
  const anchors = new Set(ascending(words, seconds))
  const placed: TimedText[] = []
  for (let i = 0; i < words.length; i++) {
    if (anchors.has(i)) {
      const { start, end } = words[i]!
      const to = Number.isFinite(end) ? Math.min(Math.max(start, end), seconds) : start
      placed.push({ text: texts[i]!, start, end: to })
      continue
    }
    let next = i
    while (next < words.length && !anchors.has(next)) next++
    const from = placed.at(-1)?.end ?? 0
    const to = Math.max(from, words[next]?.start ?? seconds)
    placed.push(...spread(texts.slice(i, next), from, to))
    i = next - 1
  }
  return clampTimes(placed, seconds)
}

/** Spreads the words of a text over its time, by their lengths. */
export function interpolateWordTimes(
  { text, start, end }: TimedText,
  seconds: number,
): TimedText[] {
  return clampTimes(spread(splitWords(text), start, end), seconds)
}

function spread(texts: readonly string[], start: number, end: number): TimedText[] {
  const total = texts.reduce((sum, text) => sum + text.length, 0)
  let at = start
  return texts.map((text) => {
    const from = at
    at += ((end - start) * text.length) / Math.max(1, total)
    return { text, start: from, end: at }
  })
}

function clampTimes(words: readonly TimedText[], seconds: number): TimedText[] {
  const withoutOverlaps = words.map((word, i) => {
    const next = words[i + 1]?.start ?? seconds
    return { ...word, end: Math.max(word.start, Math.min(word.end, next)), confidence: 1 }
  })
  const isShort = withoutOverlaps.some(({ start, end }) => end - start < MIN_WORD_SECONDS)
  const wide: readonly TimedWordConfidence[] = isShort
    ? extendShortWords(withoutOverlaps)
    : withoutOverlaps
  return wide.map(({ text, start, end }) => {
    const from = Math.min(Math.max(0, start), seconds)
    return { text, start: from, end: Math.min(Math.max(from, end), seconds) }
  })
}

/** Returns the indexes of the words in the longest subsequence whose starts ascend. */
function ascending(words: readonly TimedText[], seconds: number): number[] {
  const isUsable = ({ start }: TimedText) => start >= 0 && start <= seconds
  const longest: { length: number; before: number }[] = []
  let last = -1
  for (const [i, word] of words.entries()) {
    let [length, before] = [0, -1]
    for (let j = 0; isUsable(word) && j < i; j++) {
      if (longest[j]!.length === 0 || words[j]!.start > word.start) continue
      if (longest[j]!.length > length) [length, before] = [longest[j]!.length, j]
    }
    longest.push({ length: isUsable(word) ? length + 1 : 0, before })
    if (longest[i]!.length > (longest[last]?.length ?? 0)) last = i
  }
  const indexes: number[] = []
  for (; last >= 0; last = longest[last]!.before) indexes.unshift(last)
  return indexes
}

/** At most this many characters of a text may lie between two words. */
const WIDEST_GAP = 12

/**
 * Adds the punctuation of a text to words if the text contains the same words. Of the characters
 * between two words, those before the space belong to the first word and those after it to the
 * second.
 */
function addPunctuation(words: readonly string[], text: string): readonly string[] {
  const searched = text.toLowerCase()
  const ranges: { from: number; to: number }[] = []
  for (const word of words) {
    const after = ranges.at(-1)?.to ?? 0
    const from = searched.indexOf(word.toLowerCase(), after)
    if (from < 0 || from - after > WIDEST_GAP || searched.length !== text.length) return words
    ranges.push({ from, to: from + word.length })
  }
  const heads = ranges.map(({ from }, i) => {
    const gap = text.slice(ranges[i - 1]?.to ?? 0, from)
    return i === 0 ? gap.trim() : /\s/.test(gap) ? gap.slice(gap.search(/\S*$/)) : ''
  })
  return ranges.map(({ from, to }, i) => {
    const gap = text.slice(to, ranges[i + 1]?.from ?? text.length)
    const tail = i === ranges.length - 1 ? gap : (/^\S*/.exec(gap)?.[0] ?? '')
    return `${heads[i]}${text.slice(from, to)}${tail.trim().replace(/\s.*$/s, '')}`
  })
}
