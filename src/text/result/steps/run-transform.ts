import { roundTo } from '../../../transcript/rounding.ts'
import type { Transcript } from '../../../transcript/transcript.ts'
import type { Params } from '../../add-ons/add-on.ts'
import type { ServiceRequest } from '../../service-add-ons/service-add-on.ts'
import type { TranscriptTransform, TransformResult } from '../../transforms/transform.ts'
import {
  type AddOnError,
  AddOnFailedError,
  type AddOnOutput,
  type Envelope,
  type EnvelopeOptions,
  failedEnvelope,
  runInEnvelope,
} from './envelope.ts'
import type { ServiceResponses } from './run-service-add-on.ts'

/**
 * Thrown if a required transform failed, so that there is no result. The message does not quote the
 * transcript.
 */
export class RequiredStepError extends Error {}

/** Options of a transform. `failure`: it crashed or hung before, and is left out. */
type TransformOptions = { params: Params; failure: AddOnError | undefined }

type TransformServiceOptions = EnvelopeOptions &
  TransformOptions & { served?: readonly string[]; serviceResponses?: ServiceResponses | undefined }

/**
 * Returns the responses of a service for a transform, or the requests to make first. Without a
 * service there are none.
 */
export function responsesFor(
  { name, prepare }: TranscriptTransform,
  transcript: Transcript,
  { params, failure, served = [], serviceResponses, ...run }: TransformServiceOptions,
):
  | { serviceResponses?: ServiceResponses }
  | { name: string; seconds: number; requests: ServiceRequest[] } {
  if (!prepare || failure || !served.includes(name)) return {}
  if (serviceResponses?.name === name) return { serviceResponses }
  let requests: ServiceRequest[] = []
  const compute = () => {
    requests = prepare(transcript, params)
    return { results: null, isEmpty: true }
  }
  const { error, exec_time: seconds } = runInEnvelope(name, compute, run)
  if (error) return { serviceResponses: { name, seconds, error } }
  return requests.length > 0
    ? { name, seconds, requests }
    : { serviceResponses: { name, seconds, responses: [] } }
}

/**
 * Runs a transform. If it fails, the words stay unchanged, and a transform with an envelope reports
 * the reason.
 */
export function applyTransform(
  { name, reports, required, apply }: TranscriptTransform,
  transcript: Transcript,
  {
    params,
    failure,
    serviceResponses,
    ...run
  }: EnvelopeOptions & TransformOptions & { serviceResponses?: ServiceResponses },
): Omit<TransformResult, 'output'> & { envelope?: Envelope } {
  if (required) {
    if (failure) throw new RequiredStepError(failure.message)
    return applyRequired(() => apply(transcript, params))
  }
  if (failure) {
    return {
      transcript,
      ...(reports ? { envelope: failedEnvelope(name, failure) } : { warnings: [failure.message] }),
    }
  }
  let changed: Omit<TransformResult, 'output'> = { transcript }
  const compute = (): AddOnOutput => {
    const { output, ...applied } = apply(transcript, params, serviceResponses)
    changed = applied
    return output ?? { results: null, isEmpty: true }
  }
  // Without an envelope, nobody would notice the failure, so it is treated as a crash of the step.
  if (!reports) {
    compute()
    return changed
  }
  const envelope = runInEnvelope(name, compute, run)
  const exec_time = roundTo(envelope.exec_time + (serviceResponses?.seconds ?? 0), 6)
  return { ...changed, envelope: { ...envelope, exec_time } }
}

/**
 * Runs a required transform. A refusal is final. Any other error is treated as a crash of the step,
 * which then is not run again.
 */
function applyRequired(apply: () => TransformResult): TransformResult {
  try {
    return apply()
  } catch (error) {
    if (error instanceof AddOnFailedError) throw new RequiredStepError(error.message)
    throw error
  }
}
