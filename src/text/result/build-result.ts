import type { Transcript } from '../../transcript/transcript.ts'
import type { AddOn, Params } from '../add-on.ts'
import { addOns as allAddOns } from '../add-ons.ts'
import type { RedactedSpan } from '../redaction/places.ts'
import { subtitlesWarnings } from '../subtitles-warnings.ts'
import { transforms as allTransforms } from '../transforms.ts'
import {
  type AddOnError,
  AddOnFailure,
  type AnswerOptions,
  answer,
  type Envelope,
  failed,
  type Made,
} from './envelope.ts'
import { notConfigured, withoutEngine } from './not-configured.ts'
import { buildResult, type ResultOptions, transcriptOf } from './result-text.ts'
import { runAddOn } from './run-add-on.ts'

/** Changes a transcript before anything is made of it. */
export type Transform = {
  /** The switch that asks for it. */
  name: string
  /** Languages whose words it changes; `all` where the language does not matter. */
  languages: 'all' | readonly string[]
  /** Whether its changes are told in an envelope. */
  tells?: boolean
  /** Whether there must be no result without it: then its failure is that of the whole composition. */
  required?: boolean
  apply(transcript: Transcript, params: Params): Transformed
}

/** A changed transcript, what is to be told of the changes, and what to silence in the sound, where that is something. */
export type Transformed = {
  transcript: Transcript
  made?: Made
  redacted?: RedactedSpan[]
  /** What the customer should know of it: they stand in the metadata of the result. */
  warnings?: string[]
}

/** A result, and what to silence in the sound it was made of. */
export type BuiltResult = { result: Record<string, unknown>; redacted: RedactedSpan[] }

/** There is no result, because a transform that is required failed. Its message quotes nothing of the transcript. */
export class RequiredStepFailed extends Error {}

/** How a composition is watched. */
export type BuildOptions = {
  /** Called before each step, with its name. */
  onStep?: (name: string) => void
  /** Steps that broke down or hung before, and why: they are not tried again. */
  given?: Readonly<Record<string, AddOnError>>
  /** Told what a step threw that it should not, when the composition goes on. */
  onFault?: (name: string, error: unknown) => void
  /** Milliseconds, for the measure of time only. */
  now?: () => number
  /** For tests. */
  transforms?: readonly Transform[]
  addOns?: readonly AddOn[]
}

/**
 * The result of a job, all add-ons included, in the order of contract 4.1. Throws `RequiredStepFailed`
 * rather than to leave out a transform that is required.
 */
export function buildResultText(
  transcript: Transcript,
  result: ResultOptions,
  options: BuildOptions = {},
): BuiltResult {
  const { onStep, onFault, given = {}, now = performance.now.bind(performance) } = options
  const { transforms = allTransforms, addOns = allAddOns } = options
  const { params, form = 'string', diarizationError, diarizationSeconds: seconds = 0 } = result
  let text = transcript
  let redacted: RedactedSpan[] = []
  const warnings: string[] = []
  const envelopes = new Map<string, Envelope>()
  for (const transform of transforms) {
    const { name } = transform
    if (params[name] !== true) continue
    onStep?.(name)
    const applied = applyTransform(transform, text, { params, why: given[name], now, onFault })
    text = applied.transcript
    if (applied.redacted) redacted = applied.redacted
    warnings.push(...(applied.warnings ?? []))
    if (applied.envelope) envelopes.set(name, applied.envelope)
  }
  const written = buildResult(text, { ...result, warnings })
  // Of what the result tells, to the digit: all that there is for one that is made again later (`retry.ts`).
  const told = { ...text, ...transcriptOf(written.transcription.utterances) }
  for (const addOn of addOns) {
    const { name } = addOn
    if (params[name] !== true) continue
    onStep?.(name)
    envelopes.set(name, runAddOn(addOn, told, { params, form, given, now, onFault }))
  }
  warnings.push(...subtitlesWarnings(envelopes.get('subtitles')))
  for (const name of withoutEngine) {
    if (params[name] === true) envelopes.set(name, notConfigured(name))
  }
  // Of speakers that were found the utterances tell (contract 4.10).
  if (diarizationError) {
    envelopes.set('diarization', failed('diarization', diarizationError, { seconds, form }))
  }
  return { result: assemble(written, envelopes), redacted }
}

/** A transform that fails leaves the words as they are; one that tells something says why. */
function applyTransform(
  { name, tells, required, apply }: Transform,
  transcript: Transcript,
  { params, why, ...run }: AnswerOptions & { params: Params; why: AddOnError | undefined },
): Omit<Transformed, 'made'> & { envelope?: Envelope } {
  if (required) {
    if (why) throw new RequiredStepFailed(why.message)
    return applyRequired(() => apply(transcript, params))
  }
  if (why) {
    return {
      transcript,
      ...(tells ? { envelope: failed(name, why) } : { warnings: [why.message] }),
    }
  }
  let changed: Omit<Transformed, 'made'> = { transcript }
  const make = (): Made => {
    const { made, ...applied } = apply(transcript, params)
    changed = applied
    return made ?? { results: null, isEmpty: true }
  }
  // Of one that tells nothing a failure must be noticed: it breaks the step down.
  if (!tells) {
    make()
    return changed
  }
  const envelope = answer(name, make, run)
  return { ...changed, envelope }
}

/** A refusal is final; whatever else is thrown breaks the step down, and is given back as why it is not tried again. */
function applyRequired(apply: () => Transformed): Transformed {
  try {
    return apply()
  } catch (error) {
    if (error instanceof AddOnFailure) throw new RequiredStepFailed(error.message)
    throw error
  }
}

/** Sentences stand in two places, subtitles in one without an envelope (contract 4.8). */
function assemble(
  { metadata, transcription }: ReturnType<typeof buildResult>,
  envelopes: Map<string, Envelope>,
): Record<string, unknown> {
  const sentences = envelopes.get('sentences')
  const subtitles = envelopes.get('subtitles')
  envelopes.delete('subtitles')
  return {
    metadata,
    transcription: {
      ...transcription,
      ...(sentences && { sentences: [sentences] }),
      ...(subtitles && { subtitles: subtitles.results ?? [] }),
    },
    ...Object.fromEntries(envelopes),
  }
}
