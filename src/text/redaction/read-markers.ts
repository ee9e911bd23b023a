import type { HiddenEntity, Transcript } from '../../transcript/transcript.ts'
import { entityTypes } from '../entities/entity-types.ts'
import { labelOf, markers } from './labels.ts'

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
        type: entityTypes.find((type) => labelOf(type) === label)!,
        text: marker,
        start,
        end,
      }
    })
  })
}
