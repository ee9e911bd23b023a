import type { HiddenEntity, Transcript } from '../../../transcript/transcript.ts'
import { type EntityType, entityTypes } from '../../entities/entity-types.ts'

/** Types whose label is not their name. */
const labels: Partial<Record<EntityType, string>> = { EMAIL_ADDRESS: 'EMAIL' }

/** Returns the label of a type in a marker. */
export function markerLabelOf(type: EntityType): string {
  return labels[type] ?? type
}

const marker = `\\[(?<label>${entityTypes.map(markerLabelOf).join('|')})_\\d+\\]`

/** Returns a new pattern that matches markers, with its own state. */
export function markers(): RegExp {
  return new RegExp(marker, 'g')
}

/**
 * Returns the entities that the markers in a redacted transcript stand for. Of an entity that
 * continues in a later utterance only the part in the marker's utterance is known, because nothing
 * else is stored. Masks do not reveal what they hide.
 */
export function readMarkers({ utterances }: Pick<Transcript, 'utterances'>): HiddenEntity[] {
  const words = utterances.flatMap(({ words }) => words)
  return words.flatMap(({ text, start, end }) => {
    return Array.from(text.matchAll(markers()), ([marker, label]) => {
      return {
        type: entityTypes.find((type) => markerLabelOf(type) === label)!,
        text: marker,
        start,
        end,
      }
    })
  })
}
