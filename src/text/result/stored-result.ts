import type { Transcript } from '../../transcript/transcript.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import type { Params } from '../add-ons/add-on.ts'
import { readMarkers } from '../redaction/markers/markers.ts'
import type { Envelope } from './steps/envelope.ts'
import type { ServiceResponses } from './steps/run-service-add-on.ts'
import { renewWarnings } from './subtitles-warnings.ts'
import { responseUsage, sumUsage, type TokenUsage } from './token-usage.ts'
import { transcriptOf } from './transcript-result.ts'
import { renewTranslationWarnings } from './translation-warnings.ts'

/** A result as it is stored, parsed. */
export type StoredResult = Record<string, unknown> & {
  metadata?: { audio_duration?: number; warnings?: string[]; usage?: TokenUsage }
  transcription: { utterances: UtteranceView[]; sentences?: unknown[]; subtitles?: unknown[] }
}

/** Adds the tokens that responses of services used to the usage of a result. */
export function addResponseUsage(
  { metadata }: StoredResult,
  serviceResponses: readonly ServiceResponses[],
): void {
  const responses = serviceResponses.flatMap((addOnResponses) =>
    'responses' in addOnResponses ? addOnResponses.responses : [],
  )
  const usage = sumUsage([metadata?.usage, responseUsage(responses)])
  if (metadata && usage) metadata.usage = usage
}

/** Returns the transcript of a result, which is redacted if the job requested that. */
export function storedTranscript(
  { transcription, metadata }: StoredResult,
  params: Params,
): Transcript {
  const duration = metadata?.audio_duration
  const stored = {
    ...transcriptOf(transcription.utterances),
    ...(duration !== undefined && { duration }),
  }
  return params.pii_redaction === true ? { ...stored, hidden: readMarkers(stored) } : stored
}

/** Writes a response to its place in a result, and returns the new content of that place. */
export function putEnvelope(result: StoredResult, name: string, envelope: Envelope): unknown {
  if (name === 'subtitles') {
    const files = (envelope.results ?? []) as unknown[]
    result.transcription.subtitles = files
    // Results of earlier versions have no metadata.
    const { metadata } = result
    if (metadata?.warnings) metadata.warnings = renewWarnings(metadata.warnings, envelope)
    return files
  }
  const { metadata, transcription } = result
  if (name === 'translation' && metadata?.warnings) {
    const { warnings } = metadata
    metadata.warnings = renewTranslationWarnings(warnings, envelope, transcription.utterances)
  }
  result[name] = envelope
  if (name === 'sentences') result.transcription.sentences = [envelope]
  return envelope
}
