import type { Transcript } from '../../transcript/transcript.ts'
import type { Params } from '../add-ons/add-on.ts'
import type { RedactedSpan } from '../redaction/redacted-spans.ts'
import type { AddOnOutput } from '../result/steps/envelope.ts'
import type { ServiceResponses } from '../result/steps/run-service-add-on.ts'
import type { ServiceRequest } from '../service-add-ons/service-add-on.ts'

/** A step that changes a transcript before any add-on runs on it. */
export type TranscriptTransform = {
  /** The switch that requests it. */
  name: string
  /** Languages whose words it changes; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Whether the result reports its changes in an envelope. */
  reports?: boolean
  /** Whether no result may be built without it. Its failure then fails the whole build. */
  required?: boolean
  /** Returns what to ask a service before the step; only called where there is one for it. */
  prepare?(transcript: Transcript, params: Params): ServiceRequest[]
  /** `serviceResponses`: the answers to what `prepare` returned, where there is a service. */
  apply(
    transcript: Transcript,
    params: Params,
    serviceResponses?: ServiceResponses,
  ): TransformResult
}

/**
 * A changed transcript, the report of the changes, and the audio spans to silence, where there are
 * any.
 */
export type TransformResult = {
  transcript: Transcript
  made?: AddOnOutput
  redacted?: RedactedSpan[]
  /** Warnings for the user, which go into the metadata of the result. */
  warnings?: string[]
}
