import type { AddOn, Params } from '../../add-ons/add-on.ts'
import { localAddOns } from '../../add-ons/add-ons.ts'
import type { ServiceAddOn } from '../../service-add-ons/service-add-on.ts'
import { serviceAddOns as allServiceAddOns } from '../../service-add-ons/service-add-ons.ts'
import { transforms } from '../../transforms/transforms.ts'
import {
  addResponseUsage,
  putEnvelope,
  type StoredResult,
  storedTranscript,
} from '../stored-result.ts'
import type { Envelope, ResultFormat } from './envelope.ts'
import { notConfiguredEnvelope, serviceOnlyAddOns } from './not-configured.ts'
import { type AddOnRunOptions, runAddOn } from './run-add-on.ts'
import {
  mergeServiceAddOn,
  prepareServiceAddOn,
  type ServiceRequests,
  type ServiceResponses,
} from './run-service-add-on.ts'

/** An add-on to retry, with the stored JSON texts, which may be megabytes long. */
export type Retry = {
  name: string
  result: string
  params: string
  format: ResultFormat
  /** The add-ons for which services can be called; see `servedAddOns`. */
  served?: readonly string[]
  /** The answers to the requests that the same retry returned before. */
  serviceResponses?: ServiceResponses | undefined
}

/**
 * The outcome of a retry: the JSON texts of the new result and of the add-on's part in it; or the
 * requests whose responses the add-on needs; or the reason for a refusal: no add-on has this name,
 * it cannot be retried, was not requested, or has succeeded.
 */
export type RetryResult =
  | { outcome: 'made'; result: string; response: string }
  | { outcome: 'prepared'; prepared: ServiceRequests }
  | { outcome: 'unknown' | 'unrepeatable' | 'not-requested' | 'succeeded' }

/** The options of a retry. */
export type RetryOptions = Omit<AddOnRunOptions, 'params' | 'format'> & {
  /** Called before the add-on begins, with its name. */
  onStep: (name: string) => void
  /** For tests. */
  addOns?: readonly AddOn[]
  serviceAddOns?: readonly ServiceAddOn[]
}

/**
 * Retries a failed add-on with the words of the result, which are redacted if the job requested
 * that. Every add-on runs on exactly those words (`build-result.ts`), so the outcome is the same as
 * without the failure.
 */
export function recomputeAddOn(
  { name, format, served = [], serviceResponses, ...texts }: Retry,
  options: RetryOptions,
): RetryResult {
  const { onStep, addOns = localAddOns, serviceAddOns = allServiceAddOns, ...runOptions } = options
  if (fixed.includes(name)) return { outcome: 'unrepeatable' }
  if (!isRepeatable(name, [...addOns, ...serviceAddOns])) return { outcome: 'unknown' }
  const params = JSON.parse(texts.params) as Params
  if (params[name] !== true) return { outcome: 'not-requested' }
  const result = JSON.parse(texts.result) as StoredResult
  if (hasSucceeded(result, name)) return { outcome: 'succeeded' }
  onStep(name)
  const run = { ...runOptions, params, format }
  const transcript = storedTranscript(result, params)
  const addOn = addOns.find((one) => one.name === name)
  const service = serviceAddOns.find((one) => one.name === name && served.includes(name))
  if (service && !serviceResponses) {
    return { outcome: 'prepared', prepared: prepareServiceAddOn(service, transcript, run) }
  }
  const envelope =
    service && serviceResponses
      ? mergeServiceAddOn(service, transcript, serviceResponses, run)
      : addOn
        ? runAddOn(addOn, transcript, run)
        : notConfiguredEnvelope(name)
  const keptEnvelope = keepSucceeded(result[name] as Envelope | undefined, envelope)
  const response = putEnvelope(result, name, keptEnvelope)
  if (serviceResponses) addResponseUsage(result, [serviceResponses])
  return { outcome: 'made', result: JSON.stringify(result), response: JSON.stringify(response) }
}

/**
 * Steps that cannot be retried, because they run before all others: they change the words, or
 * diarize the audio.
 */
const fixed: readonly string[] = ['diarization', ...transforms.map(({ name }) => name)]

/** Returns whether an add-on of this name can be retried from the words of a result. */
export function isRepeatable(
  name: string,
  addOns: readonly { name: string }[] = [...localAddOns, ...allServiceAddOns],
): boolean {
  if (fixed.includes(name)) return false
  return addOns.some((one) => one.name === name) || serviceOnlyAddOns.some((one) => one === name)
}

/**
 * Returns whether an add-on succeeded. Subtitles have no envelope; without a failure there is at
 * least one file.
 */
function hasSucceeded({ transcription, ...result }: StoredResult, name: string): boolean {
  if (name === 'subtitles') return (transcription.subtitles ?? []).length > 0
  const envelope = result[name] as Envelope | undefined
  return envelope?.success === true && !hasFailedPart(envelope)
}

/** Returns whether one of several prompts or target languages failed. */
function hasFailedPart(envelope: Envelope): boolean {
  return envelopeParts(envelope).some((part) => part?.error)
}

/** The results of the prompts or target languages of an add-on, in the order of the request. */
function envelopeParts({ results }: Envelope): ({ error?: unknown } | null)[] {
  return Array.isArray(results) ? results : []
}

/** Returns an envelope in which parts that succeeded before replace parts that fail now. */
function keepSucceeded(before: Envelope | undefined, retried: Envelope): Envelope {
  if (!before?.success || !hasFailedPart(before)) return retried
  const after = envelopeParts(retried)
  if (after.length === 0) return before
  const results = envelopeParts(before).map((part, i) =>
    part?.error || !after[i]?.error ? after[i] : part,
  )
  return { ...retried, success: true, is_empty: false, error: null, results }
}
