import type { AddOn, Params, ResultForm } from '../add-on.ts'
import { addOns as allAddOns } from '../add-ons.ts'
import { readMarkers } from '../redaction/read-markers.ts'
import { renewWarnings } from '../subtitles-warnings.ts'
import { transforms } from '../transforms.ts'
import type { Envelope } from './envelope.ts'
import { notConfigured, withoutEngine } from './not-configured.ts'
import { transcriptOf, type UtteranceView } from './result-text.ts'
import { type RunOptions, runAddOn } from './run-add-on.ts'

/** What is made again: JSON texts as they are stored, which hold megabytes. */
export type Retry = { name: string; result: string; params: string; form: ResultForm }

/**
 * What came of it: the JSON texts of the whole new result and of what stands in it for the add-on; or why nothing
 * was made: there is no add-on of this name, it cannot be made again, was not asked for, or has succeeded.
 */
export type Retried =
  | { outcome: 'made'; result: string; answer: string }
  | { outcome: 'unknown' | 'unrepeatable' | 'not-requested' | 'succeeded' }

/** How a retry is watched. */
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
 * Makes an add-on again that had failed, from the words of the result: redacted ones when the job was
 * redacted. That is what every add-on is made of (`compose.ts`), so it is made as if it had never failed.
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
  const said = transcriptOf(result.transcription.utterances)
  const transcript = params.pii_redaction === true ? { ...said, hidden: readMarkers(said) } : said
  const addOn = addOns.find((one) => one.name === name)
  const envelope = addOn
    ? runAddOn(addOn, transcript, { ...run, params, form })
    : notConfigured(name)
  const answer = put(result, name, envelope)
  return { outcome: 'made', result: JSON.stringify(result), answer: JSON.stringify(answer) }
}

/** What has to come before all else: it changes the words, or tells from the sound who speaks. */
const fixed: readonly string[] = ['diarization', ...transforms.map(({ name }) => name)]

/** Whether an add-on of this name can be made again from the words of a result. */
export function isRepeatable(name: string, addOns: readonly AddOn[] = allAddOns): boolean {
  if (fixed.includes(name)) return false
  return addOns.some((one) => one.name === name) || withoutEngine.some((one) => one === name)
}

/** Subtitles have no envelope: there is a file at least, unless they failed. */
function hasSucceeded({ transcription, ...result }: StoredResult, name: string): boolean {
  if (name === 'subtitles') return (transcription.subtitles ?? []).length > 0
  return (result[name] as Envelope | undefined)?.success === true
}

/** Writes an answer to where it stands in a result (contract 4.8), and returns what stands there. */
function put(result: StoredResult, name: string, envelope: Envelope): unknown {
  if (name === 'subtitles') {
    const files = (envelope.results ?? []) as unknown[]
    result.transcription.subtitles = files
    // Results of earlier versions have none.
    const { metadata } = result
    if (metadata?.warnings) metadata.warnings = renewWarnings(metadata.warnings, envelope)
    return files
  }
  result[name] = envelope
  if (name === 'sentences') result.transcription.sentences = [envelope]
  return envelope
}
