import { sum } from '../../../numbers.ts'
import type { Emotion } from './emotions.ts'
import { findHits, type Hit } from './hits.ts'
import { splitClauses } from './split-clauses.ts'

/** The sentiment of a sentence. */
export type Sentiment = {
  sentiment: 'positive' | 'negative' | 'neutral' | 'mixed' | 'unknown'
  emotion: Emotion
}

/** From this sum of valences on, a sentence is positive or negative. */
const THRESHOLD = 1
/** A clause is mixed only if both its positive and its negative sum reach this. */
const STRONG_SIDE = 3
/** The factor for the valence of a question: who asks about a problem does not have one yet. */
const QUESTION_DEGREE = 0.4

/**
 * Rates an English sentence by the valence of its phrases, which the words before them negate,
 * strengthen or weaken. Clauses of opposite sides make it mixed; without a word it is unknown.
 */
export function classifySentiment(sentence: string): Sentiment {
  const clauses = splitClauses(sentence)
  if (clauses.length === 0) return { sentiment: 'unknown', emotion: 'neutral' }
  const degree = asksWhether(sentence) ? QUESTION_DEGREE : 1
  const hits = clauses.map(findHits)
  if (courtesyBeforeSubject.test(sentence))
    hits[0] = hits[0]!.filter(({ phrase }) => !courtesy.test(phrase))
  const sides = withoutCourtesy(hits).map((found) => {
    return found.map((hit) => ({ ...hit, valence: hit.valence * degree }))
  })
  const sentiment = sentimentOf(sides)
  // A mixed sentence gets the emotion of the side that it ends with.
  const counted = sentiment === 'mixed' ? sides.findLast(takesSide) : sides.flat()
  return { sentiment, emotion: emotionOf(counted ?? [], sentiment) }
}

const courtesy = /^(?:no (?:problem|worries|trouble)|not a problem|you're welcome)/
/** A courtesy before another subject has no sentiment: "No problem, it is the second door". */
const courtesyBeforeSubject =
  /^\P{L}*(?:no (?:problem|worries|trouble)|not a problem|you['’]re welcome)[,.]? (?:\S+ ){3}/iu

function asksWhether(sentence: string): boolean {
  return /\?[^\p{L}?]*$/u.test(sentence) && !/^\P{L}*(?:why|how come|what if)\b/iu.test(sentence)
}

/** Removes courtesies: "Thanks, but it is broken" is not praise. */
function withoutCourtesy(clauses: Hit[][]): Hit[][] {
  if (clauses.filter(takesSide).length < 2) return clauses
  return clauses.map((hits) => hits.filter(({ phrase }) => !phrase.startsWith('thank')))
}

function takesSide(hits: Hit[]): boolean {
  return hits.some(({ valence }) => valence !== 0)
}

function sentimentOf(clauses: Hit[][]): Sentiment['sentiment'] {
  const sums = clauses.map((hits) => sum(hits.map(({ valence }) => valence)))
  const all = clauses.flat().map(({ valence }) => valence)
  const turns = sums.some((each) => each >= THRESHOLD) && sums.some((each) => each <= -THRESHOLD)
  const torn =
    sum(all.filter((valence) => valence > 0)) >= STRONG_SIDE &&
    sum(all.filter((valence) => valence < 0)) <= -STRONG_SIDE
  if (turns || torn) return 'mixed'
  const total = sum(all)
  if (Math.abs(total) < THRESHOLD) return 'neutral'
  return total > 0 ? 'positive' : 'negative'
}

/**
 * Returns the emotion with the greatest weight on the side of the sentence; of equal ones, the
 * first.
 */
function emotionOf(hits: Hit[], sentiment: Sentiment['sentiment']): Emotion {
  const weights = new Map<Emotion, number>()
  for (const { valence, emotion } of hits) {
    const hitEmotion = emotion ?? commonEmotion(valence)
    if (hitEmotion === 'neutral' || !matches(valence, sentiment)) continue
    // Common emotions have half the weight, so that specific ones win.
    const weight =
      hitEmotion === commonEmotion(valence) ? 0.5 * Math.abs(valence) : Math.abs(valence)
    weights.set(hitEmotion, (weights.get(hitEmotion) ?? 0) + weight)
  }
  return [...weights].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'neutral'
}

function commonEmotion(valence: number): Emotion {
  if (valence === 0) return 'neutral'
  return valence > 0 ? 'contentment' : 'disappointment'
}

function matches(valence: number, sentiment: Sentiment['sentiment']): boolean {
  if (sentiment === 'positive') return valence > 0
  if (sentiment === 'negative') return valence < 0
  return sentiment === 'mixed' ? valence !== 0 : valence === 0
}
