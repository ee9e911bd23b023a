import { roundTo } from '../../transcript/rounding.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { type Sentence, splitSentences } from '../words/sentences/sentences.ts'
import type { AddOn } from './add-on.ts'
import { summarize } from './summarization.ts'
import { contentTerms, contentWords } from './summary/terms.ts'
import { splitTopics } from './summary/topics.ts'

/** A part of a recording about one topic. Times are seconds. */
export type Chapter = {
  /** A title of a few words. */
  headline: string
  /** One sentence. */
  gist: string
  summary: string
  /** The words that distinguish the chapter from the others, the most distinctive first. */
  keywords: string[]
  start: number
  end: number
}

const MAX_HEADLINE_CHARS = 60
const MAX_KEYWORDS = 5
const MIN_KEYWORD_CHARS = 3

/**
 * Chapters of a transcript, split where the topic changes. Their texts are sentences of the
 * transcript; a language model writes better ones (`service-add-ons/chapters.ts`).
 */
export const chapters: AddOn = {
  name: 'chapters',
  languages: 'all',
  compute(transcript) {
    const results = extractChapters(transcript)
    return { results, isEmpty: results.length === 0 }
  },
}

/** Returns the chapters of a transcript, whose texts are sentences of it. */
export function extractChapters(transcript: Transcript): Chapter[] {
  const topics = topicsOf(transcript)
  const frequency = frequencyIn(topics)
  return topics.map((sentences) => {
    const spoken = transcriptOf(sentences)
    const gist = summarize(spoken, 'concise')
    return {
      headline: shorten(gist),
      gist,
      summary: summarize(spoken),
      keywords: keywordsOf(sentences, { frequency, topics: topics.length }),
      ...spanOf(sentences),
    }
  })
}

/** Returns the sentences of each chapter. */
export function topicsOf(transcript: Transcript): Sentence[][] {
  return splitTopics(splitSentences(transcript))
}

function spanOf(sentences: readonly Sentence[]): { start: number; end: number } {
  const end = sentences.reduce((latest, sentence) => Math.max(latest, sentence.end), 0)
  return { start: roundTo(sentences[0]!.start, 3), end: roundTo(end, 3) }
}

/** Returns a transcript with one utterance per sentence. */
function transcriptOf(sentences: readonly Sentence[]): Transcript {
  return {
    utterances: sentences.map(({ channel, language, speaker, words }) => {
      return { channel, language, words, ...(speaker !== undefined && { speaker }) }
    }),
  }
}

/** Shortens a text at the end of a word. */
function shorten(text: string): string {
  const bare = text.replace(/[.。]$/u, '')
  if (bare.length <= MAX_HEADLINE_CHARS) return bare
  const cut = bare.slice(0, MAX_HEADLINE_CHARS)
  const space = cut.lastIndexOf(' ')
  // Does not split a surrogate pair.
  const wholeWords = space > 0 ? cut.slice(0, space) : cut.replace(/[\uD800-\uDBFF]$/, '')
  return `${wholeWords.replace(/[,;:、，]$/u, '')}…`
}

/** Returns in how many chapters each term occurs. */
function frequencyIn(topics: readonly (readonly Sentence[])[]): Map<string, number> {
  const frequency = new Map<string, number>()
  for (const sentences of topics) {
    const terms = sentences.flatMap(({ text, language }) => contentTerms(text, language))
    for (const term of new Set(terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1)
  }
  return frequency
}

type Among = { frequency: ReadonlyMap<string, number>; topics: number }

function keywordsOf(sentences: readonly Sentence[], { frequency, topics }: Among): string[] {
  const wordsByTerm = new Map<string, string[]>()
  for (const { text, language } of sentences) {
    const isShort = separatorOf(language) === ''
    for (const { term, word } of contentWords(text, language)) {
      // Excludes numbers, and the markers of redacted words.
      if (/[\d_]/.test(term) || (!isShort && term.length < MIN_KEYWORD_CHARS)) continue
      const words = wordsByTerm.get(term)
      if (words) words.push(word)
      else wordsByTerm.set(term, [word])
    }
  }
  const weighed = [...wordsByTerm].map(([term, words]) => {
    return { words, weight: words.length * Math.log(1 + topics / frequency.get(term)!) }
  })
  // Among equal weights, the term that was said first comes first: the sort is stable.
  weighed.sort((a, b) => b.weight - a.weight)
  return weighed.slice(0, MAX_KEYWORDS).map(({ words }) => mostFrequent(words))
}

/** Returns the most frequent form of a word, because a stem may be no word: physics, not physic. */
function mostFrequent(words: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}
