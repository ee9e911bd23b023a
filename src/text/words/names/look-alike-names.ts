import { separatorOf } from '../../../transcript/separators.ts'
import type { Utterance } from '../../../transcript/transcript.ts'
import { normalizeUnicode } from '../normalize.ts'
import { foldCase } from '../word-parts.ts'
import { coOccur, type SpokenName, spokenNames } from './spoken-names.ts'

/**
 * Spellings in one language that look alike, the most frequent first. `said` holds the words around
 * the first occurrence.
 */
export type LookAlikes = {
  language: string
  spellings: { spelling: string; count: number; said: string }[]
}

/** Shorter names that look alike are different names: Jan and Jon. */
const MIN_LETTERS = 4
/** At most `max` letters may differ in names of at least `letters` letters. */
const DIFFERENCE_LIMITS = [
  { letters: 10, max: 3 },
  { letters: 5, max: 2 },
  { letters: 0, max: 1 },
]
/** The number of words before a name, and after it, that show its meaning. */
const CONTEXT_WORDS = 6

/**
 * Finds spellings that may be the same name. They have similar initials, differ in few letters but
 * not in the last one (different ends are inflections), and never occur in one sentence.
 */
export function findLookAlikes(utterances: readonly Utterance[]): LookAlikes[] {
  const languages = [...new Set(utterances.map(({ language }) => language))]
  return languages.flatMap((language) => {
    const utterancesInLanguage = utterances.filter((utterance) => utterance.language === language)
    return similarNames(spokenNames(utterancesInLanguage), language).map((names) => ({
      language,
      spellings: names.map(({ spelling, count, first }) => {
        return {
          spelling,
          count,
          said: contextOf(utterancesInLanguage[first.utterance]!, first.word),
        }
      }),
    }))
  })
}

function similarNames(names: readonly SpokenName[], language: string): SpokenName[][] {
  /** Only names with similar initials are compared, because a transcript may hold thousands. */
  const byInitial = new Map<string, SpokenName[][]>()
  for (const name of names) {
    const initial = foldedInitial(name.spelling)
    const groups = byInitial.get(initial) ?? []
    byInitial.set(initial, groups)
    const group = groups.find(([first, ...others]) => {
      const isSimilar = looksAlike(first!.spelling, name.spelling, language)
      return isSimilar && ![first!, ...others].some((otherName) => coOccur(name, otherName))
    })
    if (group) group.push(name)
    else groups.push([name])
  }
  return [...byInitial.values()].flat().filter((group) => group.length > 1)
}

/** Letters that sound like another one at the beginning of names, with that other letter. */
const INITIALS: Record<string, string> = { c: 'k', q: 'k', f: 'v', p: 'v', w: 'v', z: 's', y: 'j' }

function foldedInitial(spelling: string): string {
  const [first = ''] = foldAccents(spelling)
  return INITIALS[first] ?? first
}

function looksAlike(name: string, otherName: string, language: string): boolean {
  const [a, b] = [[...foldAccents(name)], [...foldAccents(otherName)]]
  const shorter = Math.min(a.length, b.length)
  if (shorter < MIN_LETTERS) return false
  // In German, an accent may mark the plural: Vater and Väter.
  if (a.join('') === b.join('')) return language !== 'de'
  const { max } = DIFFERENCE_LIMITS.find(({ letters }) => shorter >= letters)!
  if (Math.abs(a.length - b.length) > max || a.at(-1) !== b.at(-1)) return false
  return letterDistance(a, b) <= max
}

function foldAccents(text: string): string {
  return foldCase(normalizeUnicode(text, 'NFD').replace(/\p{M}/gu, ''))
}

/** Returns the Levenshtein distance: the number of letters to replace, remove and insert. */
function letterDistance(a: readonly string[], b: readonly string[]): number {
  let previousRow = b.map((_, i) => i + 1)
  for (const [n, letter] of a.entries()) {
    const row: number[] = []
    for (const [i, otherLetter] of b.entries()) {
      const replaced = (previousRow[i - 1] ?? n) + (letter === otherLetter ? 0 : 1)
      row.push(Math.min(replaced, previousRow[i]! + 1, (row[i - 1] ?? n + 1) + 1))
    }
    previousRow = row
  }
  return previousRow.at(-1)!
}

function contextOf({ words, language }: Utterance, at: number): string {
  const context = words.slice(Math.max(0, at - CONTEXT_WORDS), at + CONTEXT_WORDS + 1)
  return context.map(({ text }) => text).join(separatorOf(language))
}
