import type { HiddenEntity, Transcript } from '../../transcript/transcript.ts'
import { expandTypes, languages } from '../entities/entity-types.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { numberMarkers } from './markers/number-markers.ts'
import { writeMarkers } from './markers/write-markers.ts'
import { maskEntities } from './mask-entities.ts'
import type { Style } from './masks/masked-spans.ts'
import { createMaskedText } from './masks/masked-text.ts'
import { maskOf, writeMasks } from './masks/write-masks.ts'
import {
  entityWordSpans,
  mergeOverlapping,
  type RedactedSpan,
  redactedSpansOf,
} from './redacted-spans.ts'

/** Which entities to hide, and how. By default, entities of all types become markers. */
export type PiiRedactionConfig = {
  entity_types?: string | readonly string[]
  processed_text_type?: Style
}

/**
 * Returns a transcript without its personal data, and the spans of its audio to silence. Throws
 * `AddOnFailedError` for speech in a language in which personal data cannot be recognized.
 */
export function redact(
  { utterances }: Transcript,
  { entity_types, processed_text_type: style = 'MARKER' }: PiiRedactionConfig = {},
): { transcript: Transcript; redacted: RedactedSpan[] } {
  refuseUnknown(utterances)
  const masked = createMaskedText({ utterances })
  const hidden = maskEntities(masked, { wanted: expandTypes(entity_types), style })
  const places = entityWordSpans(masked)
  const markers = style === 'MARKER' ? numberMarkers(hidden, places, masked) : undefined
  const entities = [...places].map(([number, placesInText]): HiddenEntity => {
    const { type, original } = hidden[number - 1]!
    const spans = redactedSpansOf(placesInText)
    const text = markers?.get(number) ?? maskOf(original)
    // An entity that continues in a later utterance may end there before another speaker of the
    // channel does.
    const end = spans.reduce((last, span) => Math.max(last, span.end), 0)
    return { type, text, start: spans[0]!.start, end }
  })
  const written = markers ? writeMarkers(masked, (mask) => markers.get(mask)!) : writeMasks(masked)
  const redacted = mergeOverlapping([...places.values()].flatMap(redactedSpansOf))
  return { transcript: { utterances: written, hidden: entities }, redacted }
}

function refuseUnknown(utterances: Transcript['utterances']): void {
  const withWords = utterances.filter(({ words }) => words.length > 0)
  const unknown = withWords
    .map(({ language }) => language)
    .filter((language) => !languages.includes(language))
  if (unknown.length === 0) return
  const languagesFound = [...new Set(unknown)].join(', ')
  throw new AddOnFailedError({
    status_code: 500,
    exception: 'LanguageNotSupported',
    message: `pii_redaction supports only ${languages.join(', ')}; some of the recording is in ${languagesFound}`,
  })
}
