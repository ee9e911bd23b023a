import { wordSegmenterOf } from '../../words/locale.ts'

/** Frequent English words that say little about a topic. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by
can could did do does doing don down during each even ever few for from further get gets getting go goes going gonna got
had has have having he her here hers him his how i if in into is it its just kind know let like ll lot make many maybe me
mean might more most much must my no nor not now of off oh ok okay on once one only or other our out over own put quite
re really right said same say see shall she should so some something sort still such sure take tell than that the their
them then there these they thing things think this those though through to too uh um under until up us ve very wanna want
was way we well were what when where which while who why will with would yeah yep yes you your yours actually basically
anyway finally please thank thanks hello hi bye`.split(/\s+/),
)

/**
 * Returns the content words of a sentence, in lower case. English loses stop words, single letters
 * and digits, and plural endings. Other languages keep every word, and the weight of frequent ones
 * falls by their frequency alone.
 */
export function contentTerms(text: string, language: string): string[] {
  return contentWords(text, language).map(({ term }) => term)
}

/** Returns the terms of `contentTerms`, and the words of which they are stems. */
export function contentWords(text: string, language: string): { term: string; word: string }[] {
  const words = segmentWords(text.toLowerCase(), language)
  if (language !== 'en') return words.map((word) => ({ term: word, word }))
  const contentful = words.filter((word) => !isStopWord(word)).map(withoutPossessive)
  return contentful.map((word) => ({ term: stem(word), word }))
}

/**
 * Returns whether a word says nothing about the topic: a stop word, or a single letter or digit.
 */
function isStopWord(word: string): boolean {
  return /^[\p{L}\p{N}]$/u.test(word) || STOP_WORDS.has(word.replace(/['’].*/, ''))
}

const DICTATED_NUMBER_WORD = /^(?:zero|two|three|four|five|six|seven|eight|nine|double|triple|\d+)$/

/** Returns whether terms are mostly digits, as of a dictated number. */
export function areMostlyDigits(terms: readonly string[]): boolean {
  return 2 * terms.filter((term) => DICTATED_NUMBER_WORD.test(term)).length > terms.length
}

function segmentWords(text: string, language: string): string[] {
  const words: string[] = []
  for (const { segment, isWordLike } of wordSegmenterOf(language).segment(text)) {
    if (isWordLike) words.push(segment)
  }
  return words
}

function withoutPossessive(word: string): string {
  return word.replace(/['’]s?$/, '')
}

/** Strips the endings of English plurals: "budgets" becomes "budget". */
function stem(word: string): string {
  if (/ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`
  return /[^sui]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word
}
