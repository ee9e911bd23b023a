/** Terms that follow each other; the last one may be the beginning of a longer one. */
export type TermPhrase = { terms: readonly string[]; isPrefix: boolean }

/** The phrases that an utterance must have, and those that it must not have. */
export type TermClause = { must: readonly TermPhrase[]; not: readonly TermPhrase[] }

/** Finds the utterances that any clause finds; each clause must ask for something. */
export type TermQuery = readonly TermClause[]

/** Terms have letters, digits and marks only, so no language of queries can misread them. */
const isTerm = /^[\p{L}\p{N}\p{M}\p{Co}]+$/u

/** Words a query for FTS5, the full-text index of SQLite. */
export function toFts5(owner: string, query: TermQuery): string {
  const clauses = query.map(({ must, not }) => {
    const all = `(${must.map(fts5Phrase).join(' AND ')})`
    return not.length === 0 ? all : `(${all} NOT (${not.map(fts5Phrase).join(' OR ')}))`
  })
  return `owner : "${owner}" AND terms : (${clauses.join(' OR ')})`
}

function fts5Phrase({ terms, isPrefix }: TermPhrase): string {
  return `"${terms.map(checked).join(' ')}"${isPrefix ? ' *' : ''}`
}

/** Words a `tsquery` of PostgreSQL. */
export function toTsQuery(owner: string, query: TermQuery): string {
  const clauses = query.map(({ must, not }) => {
    const all = must.map(tsPhrase).join(' & ')
    return not.length === 0 ? `(${all})` : `(${all} & !(${not.map(tsPhrase).join(' | ')}))`
  })
  return `'${ownerTerm(owner)}' & (${clauses.join(' | ')})`
}

function tsPhrase({ terms, isPrefix }: TermPhrase): string {
  const last = terms.length - 1
  const quoted = terms.map((term, i) => `'${checked(term)}'${isPrefix && i === last ? ':*' : ''}`)
  return `(${quoted.join(' <-> ')})`
}

/** Words the `tsvector` of an utterance: its terms with their positions, and its owner. */
export function toTsVector(owner: string, terms: readonly string[]): string {
  // Positions end at 16,383; phrases beyond are found by their words only.
  const placed = terms.map((term, i) => `'${checked(term)}':${Math.min(i + 1, 16_383)}`)
  return [`'${ownerTerm(owner)}'`, ...placed].join(' ')
}

/** No word has a colon, so none is mistaken for an owner. */
function ownerTerm(owner: string): string {
  return `owner:${owner}`
}

function checked(term: string): string {
  if (!isTerm.test(term)) throw new TypeError(`not a term: ${term}`)
  return term
}
