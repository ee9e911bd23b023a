import { roundTo } from '../../../transcript/rounding.ts'
import type { Transcript } from '../../../transcript/transcript.ts'
import { supportedUtterances } from '../../add-ons/add-on.ts'
import type { ServiceAddOn, ServiceRequest } from '../../service-add-ons/service-add-on.ts'
import { type AddOnError, type Envelope, failedEnvelope, runInEnvelope } from './envelope.ts'
import type { AddOnRunOptions } from './run-add-on.ts'

/**
 * The requests of one add-on, or the reason why it has none. `seconds` is the processing time so
 * far.
 */
export type ServiceRequests = { name: string; seconds: number } & (
  | { requests: ServiceRequest[] }
  | { error: AddOnError }
)

/** The responses to the requests of one add-on, in order, or the reason why there are none. */
export type ServiceResponses = { name: string; seconds: number } & (
  | { responses: unknown[] }
  | { error: AddOnError }
)

/** Returns the requests of an add-on, or the error of its result. */
export function prepareServiceAddOn(
  addOn: ServiceAddOn,
  transcript: Transcript,
  { params, failedSteps, now, onFault }: AddOnRunOptions,
): ServiceRequests {
  const { name } = addOn
  const failure = failedSteps[name]
  if (failure) return { name, seconds: 0, error: failure }
  let requests: ServiceRequest[] = []
  const compute = () => {
    requests = addOn.prepare(visibleTranscript(addOn, transcript), params)
    return { results: null, isEmpty: true }
  }
  const { error, exec_time: seconds } = runInEnvelope(name, compute, { now, onFault })
  return { name, seconds, ...(error ? { error } : { requests }) }
}

/** Returns the response of an add-on, computed from the responses of its service. */
export function mergeServiceAddOn(
  addOn: ServiceAddOn,
  transcript: Transcript,
  serviceResponses: ServiceResponses,
  { params, format, failedSteps, now, onFault }: AddOnRunOptions,
): Envelope {
  const { name } = addOn
  const failure =
    failedSteps[name] ?? ('error' in serviceResponses ? serviceResponses.error : undefined)
  if (failure) return failedEnvelope(name, failure, { seconds: serviceResponses.seconds, format })
  const responses = 'responses' in serviceResponses ? serviceResponses.responses : []
  // The services may have responded at the same time, or before a restart.
  const seconds = Math.max(serviceResponses.seconds, addOn.totalSeconds?.(responses) ?? 0)
  const compute = () =>
    addOn.merge(visibleTranscript(addOn, transcript), params, responses, { format })
  const envelope = runInEnvelope(name, compute, { now, format, onFault })
  return { ...envelope, exec_time: roundTo(envelope.exec_time + seconds, 6) }
}

/** Returns only what the result contains: services must not get `hidden`. */
function visibleTranscript(addOn: ServiceAddOn, transcript: Transcript): Transcript {
  const { duration } = transcript
  const utterances = supportedUtterances(addOn, transcript)
  return { utterances, ...(duration !== undefined && { duration }) }
}
