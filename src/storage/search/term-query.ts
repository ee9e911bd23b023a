/** Terms in sequence; the last one may be the beginning of a longer term. */
export type TermPhrase = { terms: readonly string[]; isPrefix: boolean }

/** The phrases that an utterance must contain, and those that it must not contain. */
export type TermClause = { must: readonly TermPhrase[]; not: readonly TermPhrase[] }

/** Finds the utterances that match any clause; each clause must require a term. */
export type TermQuery = readonly TermClause[]

/**
 * Terms contain only letters, digits and marks, which have no special meaning in query languages.
 */
const isTerm = /^[\p{L}\p{N}\p{M}\p{Co}]+$/u

/** Returns a query for FTS5, the full-text index of SQLite. */
export function toFts5(owner: string, query: TermQuery): string {
  const clauses = query.map(({ must, not }) => {
    const all = `(${must.map(fts5Phrase).join(' AND ')})`
    return not.length === 0 ? all : `(${all} NOT (${not.map(fts5Phrase).join(' OR ')}))`
  })
  return `owner : "${owner}" AND terms : (${clauses.join(' OR ')})`
}

function fts5Phrase({ terms, isPrefix }: TermPhrase): string {
  return `"${terms.map(checkTerm).join(' ')}"${isPrefix ? ' *' : ''}`
}

/** Returns a `tsquery` of PostgreSQL. */
export function toTsQuery(owner: string, query: TermQuery): string {
  const clauses = query.map(({ must, not }) => {
    const all = must.map(tsPhrase).join(' & ')
    return not.length === 0 ? `(${all})` : `(${all} & !(${not.map(tsPhrase).join(' | ')}))`
  })
  return `'${ownerTerm(owner)}' & (${clauses.join(' | ')})`
}

function tsPhrase({ terms, isPrefix }: TermPhrase): string {
  const last = terms.length - 1
  const quoted = terms.map((term, i) => `'${checkTerm(term)}'${isPrefix && i === last ? ':*' : ''}`)
  return `(${quoted.join(' <-> ')})`
}

/** Returns the `tsvector` of an utterance: its terms with their positions, and its owner. */
export function toTsVector(owner: string, terms: readonly string[]): string {
  // The highest position is 16,383: beyond it, the order of the words of a phrase is not checked.
  const placed = terms.map((term, i) => `'${checkTerm(term)}':${Math.min(i + 1, 16_383)}`)
  return [`'${ownerTerm(owner)}'`, ...placed].join(' ')
}

/** Words do not contain a colon, so no word is mistaken for an owner. */
function ownerTerm(owner: string): string {
  return `owner:${owner}`
}

function checkTerm(term: string): string {
  if (!isTerm.test(term)) throw new TypeError(`not a term: ${term}`)
  return term
}
