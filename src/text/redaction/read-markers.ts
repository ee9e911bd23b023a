import type { HiddenEntity, Transcript } from '../../transcript/transcript.ts'
import { entityTypes } from '../entities/entity-types.ts'
import { labelOf, markers } from './labels.ts'

/**
 * What the markers in a redacted transcript stand for. Of an entity that went on in a later utterance only the
 * part in that of its marker is told, for of the rest nothing is kept. Masks do not tell what they hide.
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
