import { separatorOf } from '../../../transcript/separators.ts'
import type { Utterance } from '../../../transcript/transcript.ts'
import { normalizeUnicode } from '../normalize.ts'
import { foldCase } from '../word-parts.ts'
import { coOccur, type SpokenName, spokenNames } from './spoken-names.ts'

/**
 * Spellings of one language that look alike, the most frequent first, each with words around it.
 */
export type LookAlikes = {
  language: string
  spellings: { spelling: string; count: number; said: string }[]
}

/** Shorter names that look alike are different names: Jan and Jon. */
const MIN_LETTERS = 4
/** Letters that may differ, of a name with at least so many. */
const DIFFERENCES = [
  { letters: 10, max: 3 },
  { letters: 5, max: 2 },
  { letters: 0, max: 1 },
]
/** Words before and after a name, for its meaning. */
const CONTEXT_WORDS = 6

/**
 * Finds spellings that may be the same name. They begin alike, differ in few letters before their
 * end (other ends are inflections), and never occur in one sentence.
 */
export function findLookAlikes(utterances: readonly Utterance[]): LookAlikes[] {
  const languages = [...new Set(utterances.map(({ language }) => language))]
  return languages.flatMap((language) => {
    const ofLanguage = utterances.filter((utterance) => utterance.language === language)
    return similarNames(spokenNames(ofLanguage), language).map((names) => ({
      language,
      spellings: names.map(({ spelling, count, first }) => {
        return { spelling, count, said: wordsAround(ofLanguage[first.utterance]!, first.word) }
      }),
    }))
  })
}

function similarNames(names: readonly SpokenName[], language: string): SpokenName[][] {
  /** Only names that begin alike are compared: a transcript may hold thousands. */
  const byInitial = new Map<string, SpokenName[][]>()
  for (const name of names) {
    const initial = initialOf(name.spelling)
    const groups = byInitial.get(initial) ?? []
    byInitial.set(initial, groups)
    const group = groups.find(([first, ...others]) => {
      const looksAlike = mayBeSame(first!.spelling, name.spelling, language)
      return looksAlike && ![first!, ...others].some((otherName) => coOccur(name, otherName))
    })
    if (group) group.push(name)
    else groups.push([name])
  }
  return [...byInitial.values()].flat().filter((group) => group.length > 1)
}

/** Letters that sound alike at the beginning of names. */
const INITIALS: Record<string, string> = { c: 'k', q: 'k', f: 'v', p: 'v', w: 'v', z: 's', y: 'j' }

function initialOf(spelling: string): string {
  const [first = ''] = foldAccents(spelling)
  return INITIALS[first] ?? first
}

function mayBeSame(name: string, otherName: string, language: string): boolean {
  const [a, b] = [[...foldAccents(name)], [...foldAccents(otherName)]]
  const shorter = Math.min(a.length, b.length)
  if (shorter < MIN_LETTERS) return false
  // The plural of German nouns: Vater and Väter.
  if (a.join('') === b.join('')) return language !== 'de'
  const { max } = DIFFERENCES.find(({ letters }) => shorter >= letters)!
  if (Math.abs(a.length - b.length) > max || a.at(-1) !== b.at(-1)) return false
  return letterDistance(a, b) <= max
}

function foldAccents(text: string): string {
  return foldCase(normalizeUnicode(text, 'NFD').replace(/\p{M}/gu, ''))
}

/** Returns the letters to replace, drop and add: the distance of Levenshtein. */
function letterDistance(a: readonly string[], b: readonly string[]): number {
  let before = b.map((_, i) => i + 1)
  for (const [n, letter] of a.entries()) {
    const row: number[] = []
    for (const [i, otherLetter] of b.entries()) {
      const replaced = (before[i - 1] ?? n) + (letter === otherLetter ? 0 : 1)
      row.push(Math.min(replaced, before[i]! + 1, (row[i - 1] ?? n + 1) + 1))
    }
    before = row
  }
  return before.at(-1)!
}

function wordsAround({ words, language }: Utterance, at: number): string {
  const some = words.slice(Math.max(0, at - CONTEXT_WORDS), at + CONTEXT_WORDS + 1)
  return some.map(({ text }) => text).join(separatorOf(language))
}
