import type { Transcript } from '../../../transcript/transcript.ts'
import { digitRuns } from '../../entities/digits/digit-runs.ts'
import { lexemesOf } from '../../entities/digits/spoken-digits.ts'
import type { EntityType } from '../../entities/entity-types.ts'
import { foldCase } from '../../words/word-parts.ts'
import type { MaskedEntity } from '../mask-entities.ts'
import type { WordSpan } from '../redacted-spans.ts'
import { markerLabelOf, markers } from './markers.ts'

/**
 * Returns the markers of entities by their number in the masked text. They are numbered per label
 * in the reading order of the transcript; the same words of the same type share a marker.
 * A marker that already stands in the text is not assigned.
 */
export function numberMarkers(
  hidden: readonly MaskedEntity[],
  places: ReadonlyMap<number, readonly WordSpan[]>,
  { utterances }: Pick<Transcript, 'utterances'>,
): Map<number, string> {
  const marked = new Map<number, string>()
  const markersByNumber = new Map<string, string>()
  const counts = new Map<EntityType, number>()
  const markersInText = new Set(
    utterances.flatMap(({ words }) => {
      return words.flatMap(({ text }) => Array.from(text.matchAll(markers()), ([one]) => one))
    }),
  )
  // Positions are collected utterance by utterance, and word by word within each.
  for (const number of places.keys()) {
    const { type, original } = hidden[number - 1]!
    const key = `${type} ${sameOriginal(original)}`
    let marker = markersByNumber.get(key)
    while (!marker || markersInText.has(marker)) {
      const count = (counts.get(type) ?? 0) + 1
      counts.set(type, count)
      marker = `[${markerLabelOf(type)}_${count}]`
    }
    markersByNumber.set(key, marker)
    marked.set(number, marker)
  }
  return marked
}

/**
 * Normalizes a text so that two ways to say the same become equal: spoken digits become written
 * ones, and letter case is dropped.
 */
function sameOriginal(original: string): string {
  const [run, ...others] = digitRuns(lexemesOf(original))
  if (run && others.length === 0 && run.from === 0 && run.to === original.length) return run.digits
  return foldCase(original)
    .replaceAll('’', "'")
    .replace(/[\s/—]+/gu, ' ')
}
