import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { type Document, documentsOf, tokensWithin } from '../document.ts'
import type { EntityType } from '../entities/entity-types.ts'
import { findEntities } from '../entities/find-entities.ts'

export { languages } from '../entities/find-entities.ts'

/** An entity as the API answers it (contract 4.7): its text and the seconds of its first and last word. */
export type NamedEntity = { entity_type: EntityType; text: string; start: number; end: number }

/** The named entities of a transcript by start. */
export function findNamedEntities(transcript: Transcript): NamedEntity[] {
  return documentsOf(transcript)
    .flatMap(entitiesOf)
    .sort((a, b) => a.start - b.start)
}

function entitiesOf(document: Document): NamedEntity[] {
  return findEntities(document).map(({ type, from, to }) => {
    const words = tokensWithin(document, { from, to })
    return {
      entity_type: type,
      text: document.text.slice(from, to),
      start: roundTo(words[0]!.start, 3),
      end: roundTo(words.at(-1)!.end, 3),
    }
  })
}
