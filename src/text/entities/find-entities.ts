import type { Document } from '../document.ts'
import { findAmounts } from './amounts.ts'
import { findCodes } from './codes.ts'
import { findDates } from './dates.ts'
import { digitRuns } from './digit-runs.ts'
import type { Entity, EntityType } from './entity-types.ts'
import { findListed } from './gazetteer.ts'
import { findNames } from './names.ts'
import { classifyRuns } from './numbers.ts'
import { findOnline } from './online.ts'
import { resolveOverlaps } from './overlaps.ts'
import { piecesOf } from './pieces.ts'
import { findPlaces, joinAddresses } from './places.ts'
import { lexemesOf } from './spoken-digits.ts'

/** What this module understands. */
export const languages: readonly string[] = ['en']

/**
 * The entities of a document by place, none overlapping. With `wanted`, only these types are looked for: an
 * entity inside a longer one of another type is then found as well.
 */
export function findEntities(
  { text }: Pick<Document, 'text'>,
  wanted?: ReadonlySet<EntityType>,
): Entity[] {
  const lexemes = lexemesOf(text)
  const pieces = piecesOf(text)
  const found = [
    ...classifyRuns(text, digitRuns(lexemes)),
    ...findCodes(text, lexemes),
    ...findOnline(text),
    ...findAmounts(text),
    ...findDates(text),
    ...findPlaces(text),
    ...findListed(text, pieces),
    ...findNames(text, pieces),
  ].map((entity) => trimmed(text, entity))
  const candidates = [...found, ...joinAddresses(text, found)]
  return resolveOverlaps(candidates.filter(({ type }) => wanted?.has(type) ?? true))
}

/** Leaves punctuation and a possessive outside. */
function trimmed(text: string, entity: Entity): Entity {
  const said = text.slice(entity.from, entity.to)
  if (entity.type === 'PASSWORD') return entity
  const end = /(?:['’]s)?[\s.,;:?!…'"”’)\]-]*$/u.exec(said)!
  const kept = /\b[ap]\.m\.$/.test(said) ? said.length : end.index
  const open = /^[\s,;:'"“‘]*/u.exec(said)![0].length
  return { ...entity, from: entity.from + open, to: entity.from + Math.max(kept, open) }
}
