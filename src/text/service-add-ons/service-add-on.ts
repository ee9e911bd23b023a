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
 * A request to a service over the network. It names everything that its response depends on, such
 * as the texts, so that a response can be stored under the request and used again.
 */
export type ServiceRequest = {
  /** The kind of service, such as `translation`. */
  readonly service: string
  readonly model: string
  readonly [key: string]: Json
}

/**
 * An add-on that needs answers of a service. Both steps are pure: the same input gives the same
 * output. The caller makes the requests in between. The transcript is that of the result, so it is
 * redacted when the job requests redaction.
 */
export type ServiceAddOn = {
  /** The switch that requests it and its key in the result. */
  name: string
  /** Languages that it supports; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Returns the requests to make; may throw `AddOnFailure`. */
  prepare(transcript: Transcript, params: Params): ServiceRequest[]
  /**
   * Computes the results from the responses, which are in the order of the requests and of unknown
   * form. May throw `AddOnFailure`.
   */
  merge(
    transcript: Transcript,
    params: Params,
    responses: readonly unknown[],
    options: { format: ResultFormat },
  ): AddOnOutput
}

/** Something that translates. */
export type TranslatorInfo = {
  provider: 'language model' | 'whisper' | 'apertium'
  /** The configured model; null where there is none to name. */
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
  /** What translates, in the order in which it is asked. */
  readonly translators?: readonly TranslatorInfo[]
  /**
   * Returns the answer to a request: plain JSON, not undefined. Settles in limited time, and soon
   * after `signal` aborts. Rejects with `AddOnFailure`, whose message tells the user why it failed.
   */
  call(request: ServiceRequest, options: ServiceCallOptions): Promise<unknown>
}

/**
 * Returns the add-ons that make requests. Translation always does: text that is in the target
 * language already is copied without any service, and the answers to other texts say what is
 * missing.
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
  /** The job or session for which it is called; a name of its own for what is made again later. */
  job: string
  signal: AbortSignal
  /** What was said, for services that listen; absent where only the words are there. */
  audio?: readonly ChannelAudio[] | undefined
  /**
   * Makes a part of the response, or returns what was stored for an equal part before: a service
   * that asks another program several times pays for nothing twice.
   */
  memoize: <T>(part: object, make: () => Promise<T>) => Promise<T>
}
