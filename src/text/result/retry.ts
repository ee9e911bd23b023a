import type { AddOn, Params, ResultForm } from '../add-on.ts'
import { addOns as allAddOns } from '../add-ons.ts'
import { readMarkers } from '../redaction/read-markers.ts'
import { renewWarnings } from '../subtitles-warnings.ts'
import { transforms } from '../transforms.ts'
import type { Envelope } from './envelope.ts'
import { notConfigured, withoutEngine } from './not-configured.ts'
import { transcriptOf, type UtteranceView } from './result-text.ts'
import { type RunOptions, runAddOn } from './run-add-on.ts'

/** An add-on to retry, with the stored JSON texts, which hold megabytes. */
export type Retry = { name: string; result: string; params: string; form: ResultForm }

/**
 * The outcome of a retry: the JSON texts of the whole new result and of the add-on's part in it; or
 * why nothing was made: no add-on has this name, it cannot be retried, was not requested, or has
 * succeeded.
 */
export type Retried =
  | { outcome: 'made'; result: string; answer: string }
  | { outcome: 'unknown' | 'unrepeatable' | 'not-requested' | 'succeeded' }

/** The options of a retry. */
export type RetryOptions = Omit<RunOptions, 'params' | 'form'> & {
  /** Called before the add-on begins, with its name. */
  onStep: (name: string) => void
  /** For tests. */
  addOns?: readonly AddOn[]
}

type StoredResult = Record<string, unknown> & {
  metadata?: { warnings?: string[] }
  transcription: { utterances: UtteranceView[]; sentences?: unknown[]; subtitles?: unknown[] }
}

/**
 * Retries a failed add-on with the words of the result, which are redacted when the job was. Every
 * add-on runs on exactly those words (`build-result.ts`), so the outcome is as if it had never
 * failed.
 */
export function retryAddOn({ name, form, ...texts }: Retry, options: RetryOptions): Retried {
  const { onStep, addOns = allAddOns, ...run } = options
  const isKnown = fixed.includes(name) || isRepeatable(name, addOns)
  if (!isKnown) return { outcome: 'unknown' }
  if (!isRepeatable(name, addOns)) return { outcome: 'unrepeatable' }
  const params = JSON.parse(texts.params) as Params
  if (params[name] !== true) return { outcome: 'not-requested' }
  const result = JSON.parse(texts.result) as StoredResult
  if (hasSucceeded(result, name)) return { outcome: 'succeeded' }
  onStep(name)
  const stored = transcriptOf(result.transcription.utterances)
  const transcript =
    params.pii_redaction === true ? { ...stored, hidden: readMarkers(stored) } : stored
  const addOn = addOns.find((one) => one.name === name)
  const envelope = addOn
    ? runAddOn(addOn, transcript, { ...run, params, form })
    : notConfigured(name)
  const answer = put(result, name, envelope)
  return { outcome: 'made', result: JSON.stringify(result), answer: JSON.stringify(answer) }
}

/** Steps that must run before all others: they change the words, or diarize the audio. */
const fixed: readonly string[] = ['diarization', ...transforms.map(({ name }) => name)]

/** Returns whether an add-on of this name can be retried from the words of a result. */
export function isRepeatable(name: string, addOns: readonly AddOn[] = allAddOns): boolean {
  if (fixed.includes(name)) return false
  return addOns.some((one) => one.name === name) || withoutEngine.some((one) => one === name)
}

/** Subtitles have no envelope: there is at least one file, unless they failed. */
function hasSucceeded({ transcription, ...result }: StoredResult, name: string): boolean {
  if (name === 'subtitles') return (transcription.subtitles ?? []).length > 0
  return (result[name] as Envelope | undefined)?.success === true
}

/**
 * Writes an answer to its place in a result (contract 4.8), and returns what that place then holds.
 */
function put(result: StoredResult, name: string, envelope: Envelope): unknown {
  if (name === 'subtitles') {
    const files = (envelope.results ?? []) as unknown[]
    result.transcription.subtitles = files
    // Results of earlier versions have no metadata.
    const { metadata } = result
    if (metadata?.warnings) metadata.warnings = renewWarnings(metadata.warnings, envelope)
    return files
  }
  result[name] = envelope
  if (name === 'sentences') result.transcription.sentences = [envelope]
  return envelope
}
