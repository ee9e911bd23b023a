import type { Transcript } from '../transcript/transcript.ts'
import { type AddOn, makeKnown, type Params } from './add-on.ts'
import { addOns as allAddOns } from './add-ons.ts'
import { type AddOnError, answer, type Envelope, failed, type Made } from './envelope.ts'
import { notConfigured, withoutEngine } from './not-configured.ts'
import { buildResult, type ResultOptions } from './result.ts'
import { transforms as allTransforms } from './transforms.ts'

/** Changes a transcript before anything is made of it. */
export type Transform = {
  /** The switch that asks for it. */
  name: string
  /** Whether its changes are told in an envelope. */
  tells?: boolean
  apply(transcript: Transcript, params: Params): Transformed
}

/** A changed transcript, and what is to be told of the changes, where that is something. */
export type Transformed = { transcript: Transcript; made?: Made }

/** How a composition is watched. */
export type ComposeOptions = {
  /** Called before each step, with its name. */
  onStep?: (name: string) => void
  /** Steps that broke down or hung before, and why: they are not tried again. */
  given?: Readonly<Record<string, AddOnError>>
  /** Milliseconds, for the measure of time only. */
  now?: () => number
  /** For tests. */
  transforms?: readonly Transform[]
  addOns?: readonly AddOn[]
}

/** The result of a job, all add-ons included, in the order of contract 4.1. */
export function compose(
  transcript: Transcript,
  result: ResultOptions,
  options: ComposeOptions = {},
): Record<string, unknown> {
  const { onStep, given = {}, now = performance.now.bind(performance) } = options
  const { transforms = allTransforms, addOns = allAddOns } = options
  const { params } = result
  let text = transcript
  const envelopes = new Map<string, Envelope>()
  for (const transform of transforms) {
    const { name } = transform
    if (params[name] !== true) continue
    onStep?.(name)
    const applied = applyTransform(transform, text, { params, why: given[name], now })
    text = applied.transcript
    if (applied.envelope) envelopes.set(name, applied.envelope)
  }
  for (const addOn of addOns) {
    const { name } = addOn
    if (params[name] !== true) continue
    onStep?.(name)
    const why = given[name]
    const make = () => makeKnown(addOn, text, params)
    envelopes.set(name, why ? failed(name, why) : answer(name, make, { now }))
  }
  for (const name of withoutEngine) {
    if (params[name] === true) envelopes.set(name, notConfigured(name))
  }
  return assemble(buildResult(text, result), envelopes)
}

/** A transform that fails leaves the words as they are; one that tells something says why. */
function applyTransform(
  { name, tells, apply }: Transform,
  transcript: Transcript,
  { params, why, now }: { params: Params; why: AddOnError | undefined; now: () => number },
): { transcript: Transcript; envelope?: Envelope } {
  if (why) return { transcript, ...(tells && { envelope: failed(name, why) }) }
  let changed = transcript
  const make = (): Made => {
    const { transcript: text, made } = apply(transcript, params)
    changed = text
    return made ?? { results: null, isEmpty: true }
  }
  // Of one that tells nothing a failure must be noticed: it breaks the step down.
  if (!tells) {
    make()
    return { transcript: changed }
  }
  const envelope = answer(name, make, { now })
  return { transcript: changed, envelope }
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
