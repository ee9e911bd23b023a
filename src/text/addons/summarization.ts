import { separatorOf } from '../../transcript/separators.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { cueWeight, isGreeting } from '../summary/cues.ts'
import { cosine, lexRank, similarityGraph, type Vector, vectorsOf } from '../summary/lexrank.ts'
import { termsOf } from '../summary/terms.ts'
import { cutSentences, type Sentence } from '../words/sentences.ts'

/** The styles of contract 2.3.1. */
export type SummaryType = 'general' | 'bullet_points' | 'concise'

/** Sentences are ranked by what they share, in any language; cues and stop words are known for English. */
export const languages: readonly string[] = ['all']

/** Half an hour to an hour of speech; of longer recordings as many sentences are weighed, evenly spread. */
const MAX_SENTENCES = 1500
/** A transcript this short is its own summary. */
const SHORT = 3
/** A shorter sentence tells too little to stand alone. */
const MIN_TERMS = 4
/** How much of a sentence may have been told by those before it: lambda of MMR. */
const RELEVANCE = 0.7
/** From this cosine on two sentences say the same. */
const SAME = 0.6

type Candidate = { sentence: Sentence; vector: Vector; score: number; order: number }

/**
 * An extractive summary: the sentences of the transcript that tell the most of it, word for word, in their
 * order. `general` has up to six, as prose; `bullet_points` the same as lines that open with `- `; `concise`
 * one or two. Empty without words.
 *
 * Ranked by LexRank, chosen by maximal marginal relevance (Carbonell and Goldstein, 1998).
 */
export function summarize(transcript: Transcript, type: SummaryType = 'general'): string {
  const sentences = cutSentences(transcript)
  const chosen = sentences.length <= SHORT ? sentences : choose(sentences, type)
  return type === 'bullet_points'
    ? chosen.map(({ text }) => `- ${text}`).join('\n')
    : asProse(chosen)
}

function choose(sentences: readonly Sentence[], type: SummaryType): Sentence[] {
  let candidates = rank(sample(sentences))
  const best = candidates[0]
  if (!best) return longest(sentences)
  const wanted = countOf(type, sentences.length)
  const chosen: Candidate[] = []
  while (chosen.length < wanted && candidates.length > 0) {
    const next = mostTelling(candidates, { chosen, best: best.score })
    candidates = candidates.filter((candidate) => !tellsTheSame(candidate, next))
    chosen.push(next)
  }
  return chosen.sort((a, b) => a.order - b.order).map(({ sentence }) => sentence)
}

/** Also by its text: where all say the same, its words are too common to weigh anything. */
function tellsTheSame(one: Candidate, other: Candidate): boolean {
  return one.sentence.text === other.sentence.text || cosine(one.vector, other.vector) >= SAME
}

/** A third of the sentences at most: a summary that leaves nothing out is none. */
function countOf(type: SummaryType, sentences: number): number {
  if (type === 'concise') return sentences < 12 ? 1 : 2
  return Math.min(6, Math.max(2, Math.round(sentences / 3)))
}

function sample(sentences: readonly Sentence[]): Sentence[] {
  if (sentences.length <= MAX_SENTENCES) return [...sentences]
  const step = sentences.length / MAX_SENTENCES
  return Array.from({ length: MAX_SENTENCES }, (_, i) => sentences[Math.floor(i * step)]!)
}

/** The sentences that may stand in a summary, best first; of equal ones the earlier. */
function rank(sentences: readonly Sentence[]): Candidate[] {
  const terms = sentences.map(({ text, language }) => termsOf(text, language))
  const vectors = vectorsOf(terms)
  const ranks = lexRank(similarityGraph(vectors))
  return sentences
    .map((sentence, order) => {
      const weight = sentence.language === 'en' ? cueWeight(sentence.text) : 1
      return { sentence, vector: vectors[order]!, score: ranks[order]! * weight, order }
    })
    .filter(({ sentence, order }) => terms[order]!.length >= MIN_TERMS && !greets(sentence))
    .sort((a, b) => b.score - a.score || a.order - b.order)
}

function greets({ text, language }: Sentence): boolean {
  return language === 'en' && isGreeting(text)
}

function mostTelling(
  candidates: readonly Candidate[],
  { chosen, best }: { chosen: readonly Candidate[]; best: number },
): Candidate {
  let found = candidates[0]!
  let most = Number.NEGATIVE_INFINITY
  for (const candidate of candidates) {
    const told = Math.max(0, ...chosen.map(({ vector }) => cosine(vector, candidate.vector)))
    const value = RELEVANCE * (candidate.score / best) - (1 - RELEVANCE) * told
    if (value > most) [found, most] = [candidate, value]
  }
  return found
}

/** Where no sentence says much, the longest says most. */
function longest(sentences: readonly Sentence[]): Sentence[] {
  return [...sentences].sort((a, b) => b.text.length - a.text.length).slice(0, 1)
}

function asProse(sentences: readonly Sentence[]): string {
  return sentences.reduce((prose, { text, language }) => {
    return prose === '' ? text : prose + separatorOf(language) + text
  }, '')
}
