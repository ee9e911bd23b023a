import { separatorOf } from '../../../transcript/separators.ts'
import type { Utterance } from '../../../transcript/transcript.ts'
import { wordSegmenterOf } from '../../words/locale.ts'
import { isNoBreakWord, type TextChunk } from './break-penalty.ts'
import { toMilliseconds } from './timing.ts'
import { countColumns, splitCharacters } from './width.ts'

/** The position of a word in the text of its utterance. */
type TimedSpan = { from: number; to: number; start: number; end: number }

type Cut = { text: string; from: number }

/**
 * Splits an utterance where a caption may break: at spaces, and in a language without spaces
 * between the words that `Intl.Segmenter` finds. With `splitAt` a word of more columns than that is
 * split between characters. Whitespace and line ends become spaces; control characters and
 * invisible text are dropped. The parts of a split word share its time by length.
 */
export function splitChunks(utterance: Utterance, splitAt = Number.POSITIVE_INFINITY): TextChunk[] {
  const { text, spans } = joinWords(utterance)
  const cuts = separatorOf(utterance.language) ? cutAtSpaces(text) : cutWords(text, utterance)
  const chunks: TextChunk[] = []
  const parts = cuts.flatMap((cut) => splitLong(cut, splitAt))
  let i = 0
  for (const [at, { text: part, from }] of parts.entries()) {
    const to = from + part.length
    while (spans[i]!.to <= from) i++
    const start = timeAt(spans[i]!, from)
    while (spans[i]!.to < to) i++
    const end = timeAt(spans[i]!, to)
    const space = from > 0 && text[from - 1] === ' ' ? ' ' : ''
    const following = [parts[at + 1]?.text, parts[at + 2]?.text]
    const leans = isNoBreakWord(part, following, utterance.language)
    chunks.push({ text: part, space, columns: countColumns(part), leans, start, end })
  }
  return chunks
}

function joinWords({ words, language }: Utterance): { text: string; spans: TimedSpan[] } {
  const separator = separatorOf(language)
  const spans: TimedSpan[] = []
  let text = ''
  for (const word of words) {
    const clean = cleanCaptionText(word.text)
    if (!/[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(clean)) continue
    if (text) text += separator
    const from = text.length
    text += clean
    const start = Math.max(0, toMilliseconds(word.start))
    const end = Math.max(start, toMilliseconds(word.end))
    spans.push({ from, to: text.length, start, end })
  }
  return { text, spans }
}

/** Cleans a text. No-break spaces stay, because they are part of a word. */
function cleanCaptionText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}--\p{White_Space}]+/gv, '')
    .replace(/[\p{White_Space}--[\u00a0\u2007\u202f]]+/gv, ' ')
}

function cutAtSpaces(text: string): Cut[] {
  return Array.from(text.matchAll(/[^ ]+/g), (match) => ({ text: match[0], from: match.index }))
}

/**
 * Splits a text into words. Punctuation belongs to the word before it, an opening bracket or
 * quotation mark to the word after it.
 */
function cutWords(text: string, { language }: Utterance): Cut[] {
  const cuts: Cut[] = []
  let joins = false
  for (const { segment, index } of wordSegmenterOf(language).segment(text)) {
    if (segment === ' ') {
      joins = false
      continue
    }
    const opens = /^[\p{Ps}\p{Pi}]+$/u.test(segment)
    const last = cuts.at(-1)
    const touches = last !== undefined && last.from + last.text.length === index
    if (touches && (joins || (!opens && /^\p{P}+$/u.test(segment)))) last.text += segment
    else cuts.push({ text: segment, from: index })
    joins = opens
  }
  return cuts
}

function splitLong({ text, from }: Cut, splitAt: number): Cut[] {
  if (countColumns(text) <= splitAt) return [{ text, from }]
  const parts: Cut[] = []
  let remaining = 0
  let at = from
  for (const character of splitCharacters(text)) {
    const columns = countColumns(character)
    remaining -= columns
    if (parts.length > 0 && remaining >= 0) parts.at(-1)!.text += character
    else {
      parts.push({ text: character, from: at })
      remaining = Math.max(0, splitAt - columns)
    }
    at += character.length
  }
  return parts
}

function timeAt({ from, to, start, end }: TimedSpan, offset: number): number {
  return Math.round(start + ((end - start) * (offset - from)) / (to - from))
}
