import { AppError } from '../../../errors.ts'
import { roundTo } from '../../../transcript/rounding.ts'

/** Why an add-on has no results, in the terms of the API. */
export type AddOnError = { status_code: number; exception: string; message: string }

/** Where the words that a response quotes were spoken; times in seconds. */
export type Source = { text: string; start: number; end: number; channel: number }

/** The response of an add-on. `exec_time` is in seconds. */
export type Envelope = {
  success: boolean
  is_empty: boolean
  exec_time: number
  error: AddOnError | null
  results: unknown
  /** An extension of the API, for add-ons that quote the recording. */
  sources?: Source[]
}

/** An error of an add-on that the user can act on. */
export class AddOnFailedError extends Error {
  readonly error: AddOnError

  constructor(response: AddOnError) {
    super(response.message)
    this.error = response
  }
}

/** The value for "no result", because the API does not allow null here. */
const failedResults: Record<ResultFormat, Record<string, unknown>> = {
  string: { sentiment_analysis: '[]', diarization: [] },
  native: { sentiment_analysis: [], diarization: [] },
}

/** How to report a failure. */
export type FailedOptions = { seconds?: number; format?: ResultFormat }

/** Returns the response of an add-on that failed, or did not run. */
export function failedEnvelope(
  name: string,
  error: AddOnError,
  { seconds = 0, format = 'string' }: FailedOptions = {},
): Envelope {
  const results = failedResults[format][name] ?? null
  return { success: false, is_empty: true, exec_time: roundTo(seconds, 6), error, results }
}

/** What an add-on returns, and whether it found anything. */
export type AddOnOutput = { results: unknown; isEmpty: boolean; sources?: Source[] }

/** How to measure an add-on, and how to report its unexpected errors. */
export type EnvelopeOptions = {
  /** Milliseconds. */
  now: () => number
  format?: ResultFormat
  /** Called with an error that no add-on should throw. */
  onFault?: ((name: string, error: unknown) => void) | undefined
}

/**
 * Runs an add-on and measures it. An error becomes a response, so that an add-on never fails its
 * job.
 */
export function runInEnvelope(
  name: string,
  compute: () => AddOnOutput,
  { now, format = 'string', onFault }: EnvelopeOptions,
): Envelope {
  const startedAt = now()
  const seconds = () => (now() - startedAt) / 1000
  try {
    const { results, isEmpty, sources } = compute()
    const exec_time = roundTo(seconds(), 6)
    const withSources = sources && { sources }
    return { success: true, is_empty: isEmpty, exec_time, error: null, results, ...withSources }
  } catch (error) {
    const isExpected = error instanceof AddOnFailedError
    if (!isExpected) onFault?.(name, error)
    const failure = isExpected ? error.error : crashError(name)
    return failedEnvelope(name, failure, { seconds: seconds(), format })
  }
}

/**
 * Returns the error of an add-on that crashed, without the cause, which may quote the transcript.
 */
export function crashError(name: string): AddOnError {
  return { status_code: 500, exception: 'AddonFailed', message: `${name} crashed` }
}

/** Returns the error of a failed diarization. It names only a model that the operator added. */
export function diarizationFailed(error: unknown): AddOnError {
  const failure = crashError('diarization')
  const isModel = error instanceof AppError && error.code === 'speaker_model_unusable'
  return isModel ? { ...failure, message: error.message } : failure
}

/**
 * Returns the error of an add-on that no longer runs because it used more processor time than one
 * session may.
 */
export function budgetError(name: string): AddOnError {
  const message = `${name} is skipped from now on: it used more time than a session may`
  return { status_code: 504, exception: 'AddonTimeout', message }
}

/** Returns the error of an add-on that timed out. */
export function timeoutError(name: string, seconds: number): AddOnError {
  const message = `${name} took longer than ${Math.round(seconds)} s`
  return { status_code: 504, exception: 'AddonTimeout', message }
}

/** The format of results that the API defines as text: text, or their native type. */
export type ResultFormat = 'string' | 'native'
