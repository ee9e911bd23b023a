import type { Document } from '../document.ts'
import { trailingFrom } from '../words/trailing.ts'
import { findAmounts } from './amounts.ts'
import { findCodes } from './codes.ts'
import { findDates } from './dates.ts'
import { foldDigits } from './digit-forms.ts'
import { digitRuns } from './digit-runs.ts'
import type { Entity, EntityType } from './entity-types.ts'
import { findListed } from './gazetteer.ts'
import { findMedical } from './medical-words.ts'
import { findNames } from './names.ts'
import { classifyRuns } from './numbers.ts'
import { findOnline } from './online.ts'
import { resolveOverlaps } from './overlaps.ts'
import { findPassphrases } from './passphrases.ts'
import { piecesOf } from './pieces.ts'
import { findPlaces, joinAddresses } from './places.ts'
import { withQuestions } from './questions.ts'
import { lexemesOf } from './spoken-digits.ts'

/** What this module understands. */
export const languages: readonly string[] = ['en']

/** What entities are found in: a text, and what others said in between where that is known. */
export type Readable = Pick<Document, 'text'> & Partial<Pick<Document, 'heard'>>

/**
 * The entities of a document by place, none overlapping. With `wanted`, only these types are looked for: an
 * entity inside a longer one of another type is then found as well. What other channels asked counts as a cue.
 */
export function findEntities(document: Readable, wanted?: ReadonlySet<EntityType>): Entity[] {
  const candidates = findCandidates(document)
  return resolveOverlaps(candidates.filter(({ type }) => wanted?.has(type) ?? true))
}

/** Whatever a rule takes for an entity in a document, in no order; the same place may be several. */
export function findCandidates(document: Readable): Entity[] {
  const { text, own } = withQuestions(foldDigits(document.text), document.heard ?? [])
  const lexemes = lexemesOf(text)
  const pieces = piecesOf(text)
  const found = [
    ...classifyRuns(text, digitRuns(lexemes)),
    ...findCodes(text, lexemes),
    ...findOnline(text),
    ...findPassphrases(text),
    ...findAmounts(text),
    ...findDates(text),
    ...findPlaces(text),
    ...findListed(text, pieces),
    ...findMedical(pieces),
    ...findNames(text, pieces),
  ]
    .flatMap(own)
    .map((entity) => trimmed(document.text, entity))
  return [...found, ...joinAddresses(document.text, found)]
}

/** Leaves punctuation and a possessive outside. */
function trimmed(text: string, entity: Entity): Entity {
  const said = text.slice(entity.from, entity.to)
  if (entity.type === 'PASSWORD') return entity
  const marks = trailingFrom(said, /[\s.,;:?!…'"”’)\]-]/u)
  const end = /['’]s$/.test(said.slice(0, marks)) ? marks - 2 : marks
  const kept = /\b[ap]\.m\.$/.test(said) ? said.length : end
  const open = /^[\s,;:'"“‘]*/u.exec(said)![0].length
  return { ...entity, from: entity.from + open, to: entity.from + Math.max(kept, open) }
}
