import type { Transcript } from '../../transcript/transcript.ts'
import type { AddOn } from '../add-ons/add-on.ts'
import { localAddOns } from '../add-ons/add-ons.ts'
import type { RedactedSpan } from '../redaction/redacted-spans.ts'
import type { ServiceAddOn } from '../service-add-ons/service-add-on.ts'
import { serviceAddOns as allServiceAddOns } from '../service-add-ons/service-add-ons.ts'
import type { TranscriptTransform } from '../transforms/transform.ts'
import { transforms as allTransforms } from '../transforms/transforms.ts'
import { joinSentences } from '../words/sentences/join-sentences.ts'
import { type AddOnError, type Envelope, failedEnvelope } from './steps/envelope.ts'
import { notConfiguredEnvelope, serviceOnlyAddOns } from './steps/not-configured.ts'
import { type AddOnRunOptions, runAddOn } from './steps/run-add-on.ts'
import { prepareServiceAddOn, type ServiceRequests } from './steps/run-service-add-on.ts'
import { applyTransform, responsesFor } from './steps/run-transform.ts'
import { addResponseUsage, type StoredResult } from './stored-result.ts'
import { subtitlesWarnings } from './subtitles-warnings.ts'
import {
  buildTranscriptResult,
  type TranscriptResultOptions,
  transcriptOf,
} from './transcript-result.ts'

/** A result, the spans to silence in its audio, and the add-ons that need a service. */
export type BuiltResult = {
  result: Record<string, unknown>
  redacted: RedactedSpan[]
  prepared: ServiceRequests[]
  /**
   * Requests of a transform to a service. Nothing is built yet; the build must be repeated with the
   * responses (`TranscriptResultOptions.serviceResponses`).
   */
  pendingRequests?: ServiceRequests
}

/** The options of a build. */
export type BuildOptions = {
  /** Called before each step, with its name. */
  onStep?: (name: string) => void
  /** Steps that crashed or hung before, and the reason. They are not run again. */
  failedSteps?: Readonly<Record<string, AddOnError>>
  /** Called with an unexpected error of a step; the build continues. */
  onFault?: (name: string, error: unknown) => void
  /** Returns milliseconds, to measure durations. */
  now?: () => number
  /** For tests. */
  transforms?: readonly TranscriptTransform[]
  addOns?: readonly AddOn[]
  serviceAddOns?: readonly ServiceAddOn[]
}

/**
 * Builds the result of a job with all add-ons, in the order that the API documents. Throws
 * `RequiredStepError` if a required transform fails.
 */
export function buildResult(
  transcript: Transcript,
  result: TranscriptResultOptions,
  options: BuildOptions = {},
): BuiltResult {
  const { onStep, onFault, failedSteps = {}, now = performance.now.bind(performance) } = options
  const { transforms = allTransforms, addOns = localAddOns } = options
  const { params, format = 'string', diarizationError, diarizationSeconds: seconds = 0 } = result
  const { channelMode, audioDuration } = result
  // Sessions keep the text of their finals.
  let text = joinSentences(transcript, { seconds: channelMode && audioDuration })
  let redacted: RedactedSpan[] = []
  const warnings = [...(result.warnings ?? [])]
  const envelopes = new Map<string, Envelope>()
  for (const transform of transforms) {
    const { name } = transform
    if (params[name] !== true) continue
    onStep?.(name)
    const run = { params, failure: failedSteps[name], now, onFault }
    const serviceResponses = responsesFor(transform, text, { ...run, ...result })
    if ('requests' in serviceResponses)
      return { result: {}, redacted: [], prepared: [], pendingRequests: serviceResponses }
    const applied = applyTransform(transform, text, { ...run, ...serviceResponses })
    text = applied.transcript
    if (applied.redacted) redacted = applied.redacted
    warnings.push(...(applied.warnings ?? []))
    if (applied.envelope) envelopes.set(name, applied.envelope)
  }
  const written = buildTranscriptResult(text, { ...result, warnings })
  // Add-ons get exactly the words of the result, with rounded times: a later retry has nothing else
  // (`retry-add-on.ts`).
  const duration = written.metadata.audio_duration
  const final = { ...text, ...transcriptOf(written.transcription.utterances), duration }
  const run = { params, format, failedSteps, now, onFault }
  const { served = [] } = result
  for (const addOn of addOns) {
    const { name } = addOn
    if (params[name] !== true || served.includes(name)) continue
    onStep?.(name)
    envelopes.set(name, runAddOn(addOn, final, run))
  }
  const prepared = prepareServices(final, { ...options, served }, run)
  warnings.push(...subtitlesWarnings(envelopes.get('subtitles')))
  for (const name of serviceOnlyAddOns) {
    if (params[name] === true && !served.includes(name))
      envelopes.set(name, notConfiguredEnvelope(name))
  }
  // If speakers were found, the utterances contain them.
  if (diarizationError) {
    envelopes.set(
      'diarization',
      failedEnvelope('diarization', diarizationError, { seconds, format }),
    )
  }
  const built = assembleResult(written, envelopes)
  if (result.serviceResponses) addResponseUsage(built as StoredResult, [result.serviceResponses])
  return { result: built, redacted, prepared }
}

/** Returns the requests of all requested add-ons that need a service. */
function prepareServices(
  transcript: Transcript,
  {
    onStep,
    served,
    serviceAddOns = allServiceAddOns,
  }: BuildOptions & { served: readonly string[] },
  run: AddOnRunOptions,
): ServiceRequests[] {
  const requested = serviceAddOns.filter(({ name }) => {
    return run.params[name] === true && served.includes(name)
  })
  return requested.map((addOn) => {
    onStep?.(addOn.name)
    return prepareServiceAddOn(addOn, transcript, run)
  })
}

/** Assembles the parts. Sentences go to two places; subtitles have no envelope. */
function assembleResult(
  { metadata, transcription }: ReturnType<typeof buildTranscriptResult>,
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
