import { cutClauses } from './clauses.ts'
import type { Emotion } from './emotions.ts'
import { findHits, type Hit } from './hits.ts'

/** How a sentence sounds (contract 4.7). */
export type Judgment = {
  sentiment: 'positive' | 'negative' | 'neutral' | 'mixed' | 'unknown'
  emotion: Emotion
}

/** A sentence takes a side from this sum of valences on. */
const THRESHOLD = 1
/** Two sides in one clause make it mixed only when both are strong. */
const STRONG_SIDE = 3
/** Who asks whether there is a problem has none yet. */
const QUESTION_DEGREE = 0.4

/**
 * Judges an English sentence by the valence of its phrases: negated, strengthened and weakened by the words
 * before them; clauses of opposite sides make it mixed; without a word it is unknown.
 */
export function judge(sentence: string): Judgment {
  const clauses = cutClauses(sentence)
  if (clauses.length === 0) return { sentiment: 'unknown', emotion: 'neutral' }
  const degree = asksWhether(sentence) ? QUESTION_DEGREE : 1
  const hits = clauses.map(findHits)
  if (leadsOn.test(sentence)) hits[0] = hits[0]!.filter(({ phrase }) => !courtesy.test(phrase))
  const sides = withoutCourtesy(hits).map((found) => {
    return found.map((hit) => ({ ...hit, valence: hit.valence * degree }))
  })
  const sentiment = sentimentOf(sides)
  // What a mixed sentence ends with is what it comes to.
  const heard = sentiment === 'mixed' ? sides.findLast(takesSide) : sides.flat()
  return { sentiment, emotion: emotionOf(heard ?? [], sentiment) }
}

const courtesy = /^(?:no (?:problem|worries|trouble)|not a problem|you're welcome)/
/** "No problem, it is the second door": a courtesy that leads to something else says nothing of it. */
const leadsOn =
  /^\P{L}*(?:no (?:problem|worries|trouble)|not a problem|you['’]re welcome)[,.]? (?:\S+ ){3}/iu

function asksWhether(sentence: string): boolean {
  return /\?[^\p{L}?]*$/u.test(sentence) && !/^\P{L}*(?:why|how come|what if)\b/iu.test(sentence)
}

/** "Thanks, but it is broken" is no praise. */
function withoutCourtesy(clauses: Hit[][]): Hit[][] {
  if (clauses.filter(takesSide).length < 2) return clauses
  return clauses.map((hits) => hits.filter(({ phrase }) => !phrase.startsWith('thank')))
}

function takesSide(hits: Hit[]): boolean {
  return hits.some(({ valence }) => valence !== 0)
}

function sentimentOf(clauses: Hit[][]): Judgment['sentiment'] {
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

/** The emotion with the most weight on the side of the sentence; of equal ones the first. */
function emotionOf(hits: Hit[], sentiment: Judgment['sentiment']): Emotion {
  const weights = new Map<Emotion, number>()
  for (const { valence, emotion } of hits) {
    const own = emotion ?? commonEmotion(valence)
    if (own === 'neutral' || !matches(valence, sentiment)) continue
    // The common ones stand behind those that say more.
    const weight = own === commonEmotion(valence) ? 0.5 * Math.abs(valence) : Math.abs(valence)
    weights.set(own, (weights.get(own) ?? 0) + weight)
  }
  return [...weights].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 'neutral'
}

function commonEmotion(valence: number): Emotion {
  if (valence === 0) return 'neutral'
  return valence > 0 ? 'contentment' : 'disappointment'
}

function matches(valence: number, sentiment: Judgment['sentiment']): boolean {
  if (sentiment === 'positive') return valence > 0
  if (sentiment === 'negative') return valence < 0
  return sentiment === 'mixed' ? valence !== 0 : valence === 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
