import type { Emotion } from './emotions.ts'
import { entryOf, type LexiconEntry, MAX_PHRASE_WORDS } from './lexicon.ts'
import type { ClauseWord } from './split-clauses.ts'

/** An occurrence of a lexicon phrase in a clause, with its valence after negation and degree. */
export type Hit = { phrase: string; valence: number; emotion?: Emotion }

/** How many words after it a negation affects; "I do not think that…" affects more. */
const NEGATION_REACH = 3
const FAR_REACH = 8

const NEGATIONS = new Set(
  "not no never nobody nothing none neither nor without hardly barely scarcely cannot ain't".split(
    ' ',
  ),
)
const FAR_NEGATIONS = new Set(['nobody', 'nothing', 'none'])
const OPINIONS = new Set(['think', 'believe', 'feel', 'suppose', 'say'])
const STRONG = new Set(
  'very really so extremely absolutely totally completely incredibly super such highly truly utterly'.split(
    ' ',
  ),
)
const WEAK = new Set(['slightly', 'somewhat', 'fairly', 'bit', 'little', 'kinda', 'mildly'])
const CONDITIONS = new Set(['if', 'unless', 'whether', 'case'])
const WISHES = new Set(['would', 'could', 'should', 'might'])

const SOLUTIONS = new Set(
  'fixed fix fixes solved solve solves resolved resolve resolves'.split(' '),
)

type Negation = { at: number; reach: number; side?: number }

/**
 * Finds the phrases of the lexicon in a clause, longest first from the left, none across a comma.
 */
export function findHits(words: readonly ClauseWord[]): Hit[] {
  const hits: Hit[] = []
  let negation: Negation | undefined
  let conditional = false
  for (let i = 0; i < words.length; ) {
    const { text, afterComma } = words[i]!
    if (afterComma) {
      negation = undefined
      conditional = false
    }
    const lexiconEntry = longestEntry(words, i)
    if (!lexiconEntry) {
      if (negates(words, i)) negation = { at: i, reach: reachOf(words, i) }
      else if (STRONG.has(text) && negation) negation.reach++
      if (CONDITIONS.has(text)) conditional = true
      i++
      continue
    }
    const { entry, length } = lexiconEntry
    const weighted = entry.valence * degreeAt(words, i) * (conditional ? 0.25 : 1)
    const negated = weighted !== 0 && reaches(negation, { at: i, side: Math.sign(weighted) })
    hits.push(
      toHit(
        words.slice(i, i + length),
        negated ? { valence: flipValence(weighted) } : { ...entry, valence: weighted },
      ),
    )
    if (SOLUTIONS.has(text)) negation = solutionNegation(negation, i)
    i += length
  }
  return hits
}

function longestEntry(words: readonly ClauseWord[], from: number) {
  const limit = Math.min(MAX_PHRASE_WORDS, words.length - from)
  let phrase = ''
  let longest: { entry: LexiconEntry; length: number } | undefined
  for (let length = 1; length <= limit; length++) {
    const { text, afterComma } = words[from + length - 1]!
    if (length > 1 && afterComma) break
    phrase = length === 1 ? text : `${phrase} ${text}`
    const entry = entryOf(phrase)
    if (entry) longest = { entry, length }
  }
  // "No" is in the list only to override its AFINN entry.
  if (longest?.length === 1 && NEGATIONS.has(words[from]!.text)) return undefined
  return longest
}

function negates(words: readonly ClauseWord[], i: number): boolean {
  const { text } = words[i]!
  const next = words[i + 1]?.text
  if (next === 'only' || next === 'just' || next === 'doubt') return false
  if (isSuperlative(words, i)) return false
  return NEGATIONS.has(text) || text.endsWith("n't")
}

const COMPARATIVE = /^(?:more|better|worse|\p{L}{2,}ier)$/u
const DEGREE = /^(?:so|such|this)$/
const POSSIBILITY = /^(?:can't|cannot|couldn't)$/

/**
 * Returns whether a negation expresses the highest degree: never been happier, couldn't be worse,
 * can't thank you enough.
 */
function isSuperlative(words: readonly ClauseWord[], i: number): boolean {
  const { text } = words[i]!
  const following = words.slice(i + 1, i + 6)
  const comma = following.findIndex(({ afterComma }) => afterComma)
  const next = comma < 0 ? following : following.slice(0, comma)
  const near = next.slice(0, 3)
  const isCompared = near.some((word) => COMPARATIVE.test(word.text))
  if (text === 'never') return isCompared || near.some((word) => DEGREE.test(word.text))
  const isNot = text === 'not' && /^(?:can|could)$/.test(words[i - 1]?.text ?? '')
  const isImpossible = isNot || POSSIBILITY.test(text)
  if (isImpossible && next.some((word) => word.text === 'enough')) return true
  const isLimit = isImpossible && /^(?:be|get|have|feel)$/.test(next[0]?.text ?? '')
  return isCompared && (isLimit || (text === "doesn't" && next[0]?.text === 'get'))
}

/** Treats a solution as a negation: a solved problem is not negative, but an unsolved one is. */
function solutionNegation(negation: Negation | undefined, at: number): Negation | undefined {
  const denied = negation && at - negation.at <= negation.reach
  return denied ? undefined : { at, reach: NEGATION_REACH, side: -1 }
}

function reachOf(words: readonly ClauseWord[], i: number): number {
  const far = FAR_NEGATIONS.has(words[i]!.text) || OPINIONS.has(words[i + 1]?.text ?? '')
  return far ? FAR_REACH : NEGATION_REACH
}

/**
 * Returns whether a negation affects a hit. It flips the first hit in its reach, and later hits of
 * the same sign.
 */
function reaches(negation: Negation | undefined, { at, side }: { at: number; side: number }) {
  if (!negation || at - negation.at > negation.reach) return false
  negation.side ??= side
  return negation.side === side
}

/** Flips a valence: "not good" is bad, but "not bad" is only moderately good. */
function flipValence(valence: number): number {
  return valence > 0 ? -0.75 * valence : -0.5 * valence
}

function degreeAt(words: readonly ClauseWord[], i: number): number {
  const before = words[i - 1]?.text ?? ''
  if (STRONG.has(before)) return 1.3
  if (WEAK.has(before)) return 0.6
  const isWish = before === 'be' && WISHES.has(words[i - 2]?.text ?? '')
  return isWish ? 0.3 : 1
}

function toHit(words: readonly ClauseWord[], entry: LexiconEntry): Hit {
  return { phrase: words.map(({ text }) => text).join(' '), ...entry }
}
