import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import { AddOnFailedError, type AddOnOutput, type ResultFormat } from '../result/steps/envelope.ts'

/** The parameters of a job, as `request_params` shows them. */
export type Params = Readonly<Record<string, unknown>>

/**
 * An add-on computes results from a finished transcript and does not change the transcript. The
 * same transcript gives the same results, byte for byte.
 */
export type AddOn = {
  /** The name of the request parameter that enables it and, for most, its key in the result. */
  name: string
  /** Languages that it supports; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Computes the results; may throw `AddOnFailedError`. */
  compute(transcript: Transcript, params: Params, options: { format: ResultFormat }): AddOnOutput
}

/**
 * Runs an add-on on the utterances whose languages it supports. Throws `AddOnFailedError` if there
 * are none.
 */
export function runOnSupportedUtterances(
  addOn: AddOn,
  transcript: Transcript,
  params: Params,
  { format = 'string' }: { format?: ResultFormat } = {},
): AddOnOutput {
  const utterances = supportedUtterances(addOn, transcript)
  return addOn.compute({ ...transcript, utterances }, params, { format })
}

/**
 * Returns the utterances whose languages an add-on supports. Throws `AddOnFailedError` if there is
 * speech, but none in such a language.
 */
export function supportedUtterances(
  { name, languages }: Pick<AddOn, 'name' | 'languages'>,
  { utterances }: Transcript,
): Utterance[] {
  if (languages === 'all') return utterances
  const supportedUtterances = utterances.filter(({ language }) => languages.includes(language))
  if (supportedUtterances.length > 0 || utterances.length === 0) return supportedUtterances
  const languagesFound = [...new Set(utterances.map(({ language }) => language))].join(', ')
  throw new AddOnFailedError({
    status_code: 422,
    exception: 'LanguageNotSupported',
    message: `${name} supports only ${languages.join(', ')}; the recording is in ${languagesFound}`,
  })
}
