import type { Transcript } from '../../../transcript/transcript.ts'
import { type AddOn, type Params, runOnSupportedUtterances } from '../../add-ons/add-on.ts'
import {
  type AddOnError,
  type Envelope,
  failedEnvelope,
  type ResultFormat,
  runInEnvelope,
} from './envelope.ts'

/** What an add-on runs with. */
export type AddOnRunOptions = {
  params: Params
  format: ResultFormat
  /** Steps that crashed or hung before, and why. They are not retried. */
  failedSteps: Readonly<Record<string, AddOnError>>
  /** Milliseconds, only to measure durations. */
  now: () => number
  onFault?: ((name: string, error: unknown) => void) | undefined
}

/** Runs an add-on and returns its response, whether it succeeds or not. */
export function runAddOn(addOn: AddOn, transcript: Transcript, options: AddOnRunOptions): Envelope {
  const { params, format, failedSteps, now, onFault } = options
  const { name } = addOn
  const failure = failedSteps[name]
  if (failure) return failedEnvelope(name, failure, { format })
  const compute = () => runOnSupportedUtterances(addOn, transcript, params, { format })
  return runInEnvelope(name, compute, { now, format, onFault })
}
