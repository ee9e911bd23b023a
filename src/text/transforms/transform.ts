import type { Transcript } from '../../transcript/transcript.ts'
import type { Params } from '../add-ons/add-on.ts'
import type { RedactedSpan } from '../redaction/redacted-spans.ts'
import type { AddOnOutput } from '../result/steps/envelope.ts'
import type { ServiceResponses } from '../result/steps/run-service-add-on.ts'
import type { ServiceRequest } from '../service-add-ons/service-add-on.ts'

/** A step that changes a transcript before any add-on runs on it. */
export type TranscriptTransform = {
  /** The name of the request parameter that enables it. */
  name: string
  /** Languages whose words it changes; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Whether the result reports its changes in an envelope. */
  reports?: boolean
  /** Whether a result must not be built without it. If it fails, the build fails. */
  required?: boolean
  /** Returns the requests to a service before the step; called only if there is such a service. */
  prepare?(transcript: Transcript, params: Params): ServiceRequest[]
  /** `serviceResponses`: the responses to the requests of `prepare`, if there is a service. */
  apply(
    transcript: Transcript,
    params: Params,
    serviceResponses?: ServiceResponses,
  ): TransformResult
}

/** A changed transcript, the report of the changes, and the audio spans to silence. */
export type TransformResult = {
  transcript: Transcript
  output?: AddOnOutput
  redacted?: RedactedSpan[]
  /** Warnings for the user, which go into the metadata of the result. */
  warnings?: string[]
}
