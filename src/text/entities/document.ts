import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import { isFilledPause } from '../words/sentences/clause-continuation.ts'

/**
 * A word and its position in a document. Times are seconds; `from` and `to` (exclusive) are offsets
 * in the text of the document.
 */
export type Token = {
  text: string
  start: number
  end: number
  confidence: number
  from: number
  to: number
}

/** The words of another channel just before the word at offset `at` of a document. */
export type Interjection = { at: number; text: string }

/**
 * The speech of one channel in one language as one text, so that an entity may span utterances.
 * `interjections` are ordered by offset; they are needed because a response does not repeat its
 * question.
 */
export type Document = {
  channel: number
  language: string
  text: string
  tokens: Token[]
  interjections: Interjection[]
}

/**
 * Returns the documents of a transcript, by channel. Each is the words of a channel until its
 * language changes, regardless of speech on other channels.
 */
export function documentsOf({ utterances }: Transcript): Document[] {
  const documents: Document[] = []
  const open = new Map<number, Document>()
  let previous: Utterance | undefined
  for (const current of utterances) {
    const { channel, language } = current
    let document = open.get(channel)
    if (document?.language !== language) {
      document = { channel, language, text: '', tokens: [], interjections: [] }
      open.set(channel, document)
      documents.push(document)
    }
    if (previous && previous.channel !== channel) addInterjection(document, previous)
    append(document, current)
    previous = current
  }
  return documents.sort((a, b) => a.channel - b.channel)
}

function addInterjection({ text, language, interjections }: Document, other: Utterance): void {
  const at = text === '' ? 0 : text.length + separatorOf(language).length
  const interjection = other.words.map((word) => word.text).join(separatorOf(other.language))
  interjections.push({ at, text: interjection })
}

function append(
  document: Document,
  { words, language }: Pick<Utterance, 'words' | 'language'>,
): void {
  const separator = separatorOf(language)
  for (const { text, start, end, confidence } of words) {
    if (document.text !== '') document.text += separator
    const from = document.text.length
    document.text += text
    const to = document.text.length
    document.tokens.push({
      text,
      start,
      end,
      confidence,
      from,
      to,
    })
  }
}

/** A document without filled pauses; `toOriginal` maps a span to the original text. */
export type FluentDocument = Document & { toOriginal(span: Span): Span }

type Span = { from: number; to: number }

/**
 * Returns a document without its filled pauses, because one may be in the middle of a number:
 * "five five five, um, one two". Returns undefined if it has none.
 */
export function withoutFilledPauses(document: Document): FluentDocument | undefined {
  const { tokens: original, language } = document
  if (language !== 'en') return undefined
  const words = original.filter((_, at) => !isFilledPause(original, at))
  if (words.length === original.length) return undefined
  const fluent: Document = { ...document, text: '', tokens: [], interjections: [] }
  append(fluent, { words, language })
  const { tokens, text, interjections } = fluent
  for (const interjection of document.interjections) {
    const next = tokens[firstAfter(words, interjection.at)]
    interjections.push({ ...interjection, at: next?.from ?? text.length })
  }
  const toOriginal = ({ from, to }: Span): Span => {
    const [first, last] = [firstAfter(tokens, from), firstAfter(tokens, to - 1)]
    return {
      from: from - tokens[first]!.from + words[first]!.from,
      to: to - tokens[last]!.from + words[last]!.from,
    }
  }
  return { ...fluent, toOriginal }
}

/** Returns the words that a span of the text overlaps. */
export function tokensWithin({ tokens }: Pick<Document, 'tokens'>, { from, to }: Span): Token[] {
  const words: Token[] = []
  for (let i = firstAfter(tokens, from); i < tokens.length && tokens[i]!.from < to; i++) {
    words.push(tokens[i]!)
  }
  return words
}

/**
 * Returns the index of the first token after an offset, by binary search, because a document may
 * have as many entities as words.
 */
function firstAfter(tokens: readonly Token[], offset: number): number {
  let [low, high] = [0, tokens.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (tokens[middle]!.to > offset) high = middle
    else low = middle + 1
  }
  return low
}
