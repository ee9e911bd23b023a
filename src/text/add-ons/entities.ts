import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import {
  type Document,
  documentsOf,
  tokensWithin,
  withoutFilledPauses,
} from '../entities/document.ts'
import { findCandidates, findEntities } from '../entities/find-entities.ts'
import { resolveOverlaps } from '../entities/matching/overlaps.ts'
import { markers } from '../redaction/markers/markers.ts'

export { languages } from '../entities/entity-types.ts'

/**
 * An entity in the form of the API: its text, the start of its first word and the end of its last
 * word, in seconds.
 */
export type NamedEntity = { entity_type: string; text: string; start: number; end: number }

/**
 * Returns the named entities of a transcript by start. Redacted ones appear with their marker or
 * mask.
 */
export function findNamedEntities(transcript: Transcript): NamedEntity[] {
  const { hidden } = transcript
  const foundEntities = documentsOf(transcript).flatMap((document) => {
    const isRedacted = hidden ? readRedacted(document) : () => false
    return entitiesOf(document, isRedacted)
  })
  const redacted = (hidden ?? []).map(({ type, text, start, end }) => {
    return { entity_type: type, text, start: roundTo(start, 3), end: roundTo(end, 3) }
  })
  return [...redacted, ...foundEntities].sort((a, b) => a.start - b.start)
}

/**
 * Returns a function that checks whether a span of a redacted text overlaps a marker or a mask,
 * which are not names although they look like some.
 */
function readRedacted({ text }: Document): (span: { from: number; to: number }) => boolean {
  const places = new Uint8Array(text.length)
  for (const pattern of [markers(), /#+/g]) {
    for (const { 0: part, index } of text.matchAll(pattern)) {
      places.fill(1, index, index + part.length)
    }
  }
  return ({ from, to }) => places.subarray(from, to).includes(1)
}

function entitiesOf(
  document: Document,
  isRedacted: (span: { from: number; to: number }) => boolean,
): NamedEntity[] {
  const fluent = withoutFilledPauses(document)
  const found = findCandidates(document)
  if (fluent) {
    for (const entity of findEntities(fluent)) {
      found.push({ ...entity, ...fluent.toOriginal(entity) })
    }
  }
  const foundEntities = resolveOverlaps(found).filter((entity) => !isRedacted(entity))
  return foundEntities.map(({ type, from, to }) => {
    const words = tokensWithin(document, { from, to })
    return {
      entity_type: type,
      text: document.text.slice(from, to),
      start: roundTo(words[0]!.start, 3),
      end: roundTo(words.at(-1)!.end, 3),
    }
  })
}
