import type { Transcript, Utterance } from '../transcript/transcript.ts'
import { AddOnFailure, type Made } from './result/envelope.ts'

/** The parameters of a job, as `request_params` shows them. */
export type Params = Readonly<Record<string, unknown>>

/** How results are written that the contract has as text (4.5): so, or as what they are. */
export type ResultForm = 'string' | 'native'

/**
 * Something that is made of a finished transcript, which it never changes. Pure: the same transcript gives
 * the same results, byte for byte.
 */
export type AddOn = {
  /** The switch that asks for it and, for most, its key in the result. */
  name: string
  /** Languages that it knows; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Makes the results; may throw `AddOnFailure`. */
  make(transcript: Transcript, params: Params, options: { form: ResultForm }): Made
}

/** Runs an add-on on what is said in languages that it knows; throws when nothing is. */
export function makeFromTranscript(
  addOn: AddOn,
  transcript: Transcript,
  params: Params,
  { form = 'string' }: { form?: ResultForm } = {},
): Made {
  const utterances = knownUtterances(addOn, transcript)
  return addOn.make({ ...transcript, utterances }, params, { form })
}

/** What is said in languages that an add-on knows; throws `AddOnFailure` when something is said, but none of it. */
export function knownUtterances(
  { name, languages }: Pick<AddOn, 'name' | 'languages'>,
  { utterances }: Transcript,
): Utterance[] {
  if (languages === 'all') return utterances
  const known = utterances.filter(({ language }) => languages.includes(language))
  if (known.length > 0 || utterances.length === 0) return known
  const heard = [...new Set(utterances.map(({ language }) => language))].join(', ')
  throw new AddOnFailure({
    status_code: 422,
    exception: 'LanguageNotSupported',
    message: `${name} knows ${languages.join(', ')}; the recording is in ${heard}`,
  })
}
