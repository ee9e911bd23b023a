import { foldMarks, splitWords } from './search-words.ts'
import { loadToTerm, type ToTerm } from './stemmers.ts'

/** Terms in sequence; with `isPrefix`, the last one is the beginning of a word. */
export type SearchPhrase = { terms: string[]; isPrefix: boolean }

/** The phrases that an utterance must contain, and those that it must not. */
export type SearchClause = { must: SearchPhrase[]; not: SearchPhrase[] }

/** Alternative clauses: one for each way in which languages reduce the words to terms. */
export type ParsedQuery = SearchClause[]

type QueryPart = { words: string[]; isExcluded: boolean; isPrefix: boolean }

/** A quoted phrase or a run of other characters, with the sign before and the star after it. */
const part = /(?<excluded>-?)(?:"(?<quoted>[^"]*)"?|(?<bare>[^\s"]+))/gu

/**
 * Parses a query. All words must occur in an utterance, `"words in quotes"` in this order, `-word`
 * must not occur, and `word*` is the beginning of a word. Returns undefined if no word is required.
 */
export async function parseSearchQuery(
  text: string,
  languages: readonly string[],
): Promise<ParsedQuery | undefined> {
  const parts = Array.from(text.matchAll(part), ({ groups }): QueryPart => {
    const { excluded, quoted, bare = '' } = groups!
    const words = splitWords(quoted ?? bare).map(({ text }) => text)
    const isPrefix = quoted === undefined && /[\p{L}\p{N}\p{M}]\*+$/u.test(bare)
    return { words, isExcluded: excluded === '-', isPrefix }
  }).filter(({ words }) => words.length > 0)
  if (parts.every(({ isExcluded }) => isExcluded)) return undefined
  const clauses: ParsedQuery = []
  for (const language of new Set([...languages, ''])) {
    const toTerm = await loadToTerm(language)
    const phrases = parts.map((part) => ({ ...part, phrase: phraseOf(part, toTerm) }))
    clauses.push({
      must: phrases.filter(({ isExcluded }) => !isExcluded).map(({ phrase }) => phrase),
      not: phrases.filter(({ isExcluded }) => isExcluded).map(({ phrase }) => phrase),
    })
  }
  // A word is excluded in every language.
  const not = distinct(clauses.flatMap((clause) => clause.not))
  return distinct(clauses.map(({ must }) => ({ must, not })))
}

function phraseOf({ words, isPrefix }: QueryPart, toTerm: ToTerm): SearchPhrase {
  const terms = words.map(toTerm)
  const [beginning, term] = [foldMarks(words.at(-1)!), terms.at(-1)!]
  // Terms are stems. A beginning that is longer than the stem would not match the word itself.
  if (isPrefix && beginning.length < term.length) terms[terms.length - 1] = beginning
  return { terms, isPrefix }
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}

/** Returns where a text matches a query: start and end of each match, in UTF-16 code units. */
export async function findHighlights(
  text: string,
  { query, language }: { query: ParsedQuery; language: string },
): Promise<[start: number, end: number][]> {
  const toTerm = await loadToTerm(language)
  const words = splitWords(text)
  const terms = words.map((word) => toTerm(word.text))
  const isFound = new Set<number>()
  for (const { terms: searchedTerms, isPrefix } of query.flatMap(({ must }) => must)) {
    const isAt = (at: number) =>
      searchedTerms.every((term, i) => {
        const foundTerm = terms[at + i]
        return isPrefix && i === searchedTerms.length - 1
          ? foundTerm?.startsWith(term)
          : foundTerm === term
      })
    for (let at = 0; at + searchedTerms.length <= terms.length; at++) {
      if (isAt(at)) for (let i = 0; i < searchedTerms.length; i++) isFound.add(at + i)
    }
  }
  return words
    .flatMap(({ start, end }, i) => (isFound.has(i) ? [[start, end] as const] : []))
    .map(([start, end]) => [start, end])
}
