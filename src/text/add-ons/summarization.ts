import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { type Sentence, splitSentences } from '../words/sentences/sentences.ts'
import { cueWeight, isGreeting } from './summary/cues.ts'
import { cosine, lexRank, similarityGraph, type Vector, vectorsOf } from './summary/lexrank.ts'
import { areMostlyDigits, contentTerms } from './summary/terms.ts'

/** The styles of the API. */
export type SummaryType = 'general' | 'bullet_points' | 'concise'

/**
 * Maximum sentences that are ranked, which is half an hour to an hour of speech. Of longer
 * recordings, this many evenly spread sentences are ranked.
 */
const MAX_SENTENCES = 1500
/** A transcript with at most this many sentences is its own summary. */
const SHORT_TRANSCRIPT = 3
/** The weight of a part of a sentence, relative to whole ones. */
const PART_WEIGHT = 0.5
/** A shorter sentence has too little content to stand alone. */
const MIN_TERMS = 4
/** The lambda of MMR: the weight of relevance against similarity to the sentences chosen before. */
const RELEVANCE = 0.7
/** From this cosine on, two sentences are considered the same. */
const SAME_SENTENCE_COSINE = 0.6

type Candidate = { sentence: Sentence; vector: Vector; score: number; order: number }

/**
 * Returns an extractive summary: the most representative sentences of the transcript, verbatim and
 * in their order. `general` has up to six, as prose; `bullet_points` the same as lines that open
 * with `- `; `concise` one or two. Empty without words.
 *
 * Whole sentences are preferred to parts that a pause cut off, and none ends in a comma. Sentences
 * are ranked by LexRank, and chosen by maximal marginal relevance (Carbonell and
 * Goldstein, 1998).
 */
export function summarize(transcript: Transcript, type: SummaryType = 'general'): string {
  const sentences = splitSentences(transcript)
  const chosen = sentences.length <= SHORT_TRANSCRIPT ? sentences : chooseSentences(sentences, type)
  return type === 'bullet_points'
    ? chosen.map((sentence) => `- ${sentenceText(sentence)}`).join('\n')
    : asProse(chosen)
}

/** Returns a sentence without the comma after its last word. */
function sentenceText({ text }: Sentence): string {
  return text.replace(/[,;:、，]$/u, '')
}

/** Returns whether punctuation, not a pause, delimits a sentence at both ends. */
function isWholeSentence({ text, startsSentence }: Sentence): boolean {
  return startsSentence && /[.!?…。！？。।؟]["'”’»」』)\]]*$/u.test(text)
}

function chooseSentences(sentences: readonly Sentence[], type: SummaryType): Sentence[] {
  let candidates = rank(sample(sentences))
  const best = candidates[0]
  if (!best) return longest(sentences)
  const targetCount = sentenceCount(type, sentences.length)
  const chosen: Candidate[] = []
  while (chosen.length < targetCount && candidates.length > 0) {
    const next = mostInformative(candidates, { chosen, best: best.score })
    candidates = candidates.filter((candidate) => !isNearlySame(candidate, next))
    chosen.push(next)
  }
  return chosen.sort((a, b) => a.order - b.order).map(({ sentence }) => sentence)
}

/**
 * Returns whether two sentences are nearly the same. Compares the texts too: if all sentences are
 * the same, their words are too common to have any weight.
 */
function isNearlySame(candidate: Candidate, otherCandidate: Candidate): boolean {
  return (
    candidate.sentence.text === otherCandidate.sentence.text ||
    cosine(candidate.vector, otherCandidate.vector) >= SAME_SENTENCE_COSINE
  )
}

/** Returns how many sentences the summary has: at most a third of all. */
function sentenceCount(type: SummaryType, sentences: number): number {
  if (type === 'concise') return sentences < 12 ? 1 : 2
  return Math.min(6, Math.max(2, Math.round(sentences / 3)))
}

function sample(sentences: readonly Sentence[]): Sentence[] {
  if (sentences.length <= MAX_SENTENCES) return [...sentences]
  const step = sentences.length / MAX_SENTENCES
  return Array.from({ length: MAX_SENTENCES }, (_, i) => sentences[Math.floor(i * step)]!)
}

/** Returns the candidate sentences of a summary, best first; of equal ones the earlier. */
function rank(sentences: readonly Sentence[]): Candidate[] {
  const terms = sentences.map(({ text, language }) => contentTerms(text, language))
  const vectors = vectorsOf(terms)
  const ranks = lexRank(similarityGraph(vectors))
  return sentences
    .map((sentence, order) => {
      const cue = sentence.language === 'en' ? cueWeight(sentence.text) : 1
      const weight = isWholeSentence(sentence) ? cue : cue * PART_WEIGHT
      return { sentence, vector: vectors[order]!, score: ranks[order]! * weight, order }
    })
    .filter(({ sentence, order }) => hasContent(terms[order]!) && !greets(sentence))
    .sort((a, b) => b.score - a.score || a.order - b.order)
}

function hasContent(terms: readonly string[]): boolean {
  return terms.length >= MIN_TERMS && !areMostlyDigits(terms)
}

function greets({ text, language }: Sentence): boolean {
  return language === 'en' && isGreeting(text)
}

function mostInformative(
  candidates: readonly Candidate[],
  { chosen, best }: { chosen: readonly Candidate[]; best: number },
): Candidate {
  let bestCandidate = candidates[0]!
  let max = Number.NEGATIVE_INFINITY
  for (const candidate of candidates) {
    const redundancy = Math.max(0, ...chosen.map(({ vector }) => cosine(vector, candidate.vector)))
    const value = RELEVANCE * (candidate.score / best) - (1 - RELEVANCE) * redundancy
    if (value > max) [bestCandidate, max] = [candidate, value]
  }
  return bestCandidate
}

/** Returns the longest sentence, for transcripts in which no sentence has much content. */
function longest(sentences: readonly Sentence[]): Sentence[] {
  return [...sentences].sort((a, b) => b.text.length - a.text.length).slice(0, 1)
}

function asProse(sentences: readonly Sentence[]): string {
  return sentences.reduce((prose, sentence) => {
    const text = sentenceText(sentence)
    return prose === '' ? text : prose + separatorOf(sentence.language) + text
  }, '')
}
