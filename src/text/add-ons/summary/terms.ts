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
  const words = segmentWords(text.toLowerCase(), language)
  if (language !== 'en') return words
  return words.filter((word) => !isStopWord(word)).map(stem)
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

/** Strips English endings: "budgets" and "budget's" become "budget". */
function stem(word: string): string {
  const bare = word.replace(/['’]s?$/, '')
  if (/ies$/.test(bare) && bare.length > 4) return `${bare.slice(0, -3)}y`
  return /[^sui]s$/.test(bare) && bare.length > 3 ? bare.slice(0, -1) : bare
}
