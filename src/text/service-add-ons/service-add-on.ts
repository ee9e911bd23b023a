import type { Transcript } from '../../transcript/transcript.ts'
import type { Params } from '../add-ons/add-on.ts'
import type { AddOnOutput, ResultFormat } from '../result/steps/envelope.ts'

/** A value that JSON can hold. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/**
 * A request to a service over the network. It contains everything that its response depends on, so
 * a response can be stored under its request and reused.
 */
export type ServiceRequest = {
  /** The kind of service, such as `translation`. */
  readonly service: string
  readonly model: string
  readonly [key: string]: Json
}

/**
 * An add-on that needs responses of a service. Both functions are pure: the same input gives the
 * same output. The caller sends the requests in between. The transcript is that of the result, so
 * it is redacted if the job requested that.
 */
export type ServiceAddOn = {
  /** The name of the request parameter that enables it, and its key in the result. */
  name: string
  /** Languages that it supports; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Returns the requests to make; may throw `AddOnFailedError`. */
  prepare(transcript: Transcript, params: Params): ServiceRequest[]
  /**
   * Computes the results from the responses, which are in the order of the requests and of unknown
   * form. May throw `AddOnFailedError`.
   */
  merge(
    transcript: Transcript,
    params: Params,
    responses: readonly unknown[],
    options: { format: ResultFormat },
  ): AddOnOutput
  /** Returns the total seconds of the responses, where the results show the seconds of each. */
  totalSeconds?(responses: readonly unknown[]): number
}

/** A translator that the operator has configured. */
export type TranslatorInfo = {
  provider: 'language model' | 'whisper' | 'apertium'
  /** The configured model; null if it has no name. */
  model: string | null
  /** From and to, as `es-en`; null for all. */
  pairs: readonly string[] | null
  /** Whether it translates live sessions, too. */
  sessions: boolean
}

/** The services that the operator has configured. */
export type Services = {
  /** The add-ons that have a service, with the languages of the transcripts that it can take. */
  readonly addOns: Readonly<Record<string, 'all' | readonly string[]>>
  /** The translators, in the order in which they are tried. */
  readonly translators?: readonly TranslatorInfo[]
  /**
   * Returns the answer to a request: plain JSON, not undefined. Settles in limited time, and soon
   * after `signal` aborts. Rejects with `AddOnFailedError`, whose message says why it failed.
   */
  call(request: ServiceRequest, options: ServiceCallOptions): Promise<unknown>
}

/**
 * Returns the add-ons that send requests. Translation always does: text in the target language is
 * copied without a service, and the responses to other texts state what is missing.
 */
export function servedAddOns(services: Services | undefined): string[] {
  return services ? [...new Set(['translation', ...Object.keys(services.addOns)])] : []
}

/** A channel of a recording: a file of 16-bit samples at 16 kHz. */
export type ChannelAudio = { channel: number; path: string; samples: number }

/** How a service is called. */
export type ServiceCallOptions = {
  /** The account for which it is called. */
  account: string
  /** The id of the job or session; for later repetitions, an id of their own. */
  job: string
  signal: AbortSignal
  /** The audio, for services that translate speech; absent if only the words are available. */
  audio?: readonly ChannelAudio[] | undefined
  /**
   * Computes a part of the response, or returns what was stored for an equal part before, so that
   * no program is asked and paid twice.
   */
  memoize: <T>(keyParts: object, request: () => Promise<T>) => Promise<T>
}
