import {
  type Envelope,
  failedEnvelope,
  type ResultFormat,
} from '../../text/result/steps/envelope.ts'
import { notConfiguredEnvelope } from '../../text/result/steps/not-configured.ts'
import type { TokenUsage } from '../../text/result/token-usage.ts'
import { roundTo } from '../../transcript/rounding.ts'
import { type AddOnRecord, type ReadLog, readRecords } from '../journal/log-records.ts'
import type { AddOnParams } from '../messages/realtime-add-ons.ts'
import { joinTexts } from './build-live-result.ts'
import type { ChannelSpan } from './speaker-lookup.ts'
import { TranslationResults } from './translation-results.ts'

const utteranceAddOns = ['named_entity_recognition', 'sentiment_analysis'] as const
type UtteranceAddOn = (typeof utteranceAddOns)[number]

/** The results of one add-on for all utterances, each with its position and as JSON text. */
type UtteranceResults = {
  entries: { start: number; channel: number; json: string }[]
  seconds: number
  successes: number
  failures: number
  error: Envelope['error']
}

/**
 * Options for collecting the results. `speakerAt` returns the final speaker of a span: the speakers
 * that were sent were provisional.
 */
export type CollectOptions = {
  format: ResultFormat
  speakerAt(span: ChannelSpan): number | undefined
  /** Whether the server has services that translate. */
  hasServices: boolean
}

/**
 * Responses as JSON texts by key, warnings about failed utterances, and the tokens that language
 * models used.
 */
type CollectedResults = {
  responses: Record<string, string>
  warnings: string[]
  usage: TokenUsage | undefined
}

/**
 * Returns the responses of the realtime add-ons in the result of a session: the results that were
 * sent for its utterances, by start. An add-on failed only if it failed on every utterance.
 */
export async function collectAddOnResults(
  readLog: ReadLog,
  { realtime_processing: requested }: AddOnParams,
  { format, speakerAt, hasServices }: CollectOptions,
): Promise<CollectedResults> {
  const requestedTypes = utteranceAddOns.filter((type) => requested[type])
  const collected = Object.fromEntries(utteranceAddOns.map((type) => [type, emptyResults()]))
  const isTranslated = requested.translation && hasServices
  const { target_languages: targets = [] } = requested.translation_config ?? {}
  const translations = new TranslationResults(targets, speakerAt)
  const recordBatches =
    requestedTypes.length > 0 || isTranslated ? readRecords(readLog, ['found']) : []
  for await (const records of recordBatches) {
    for (const { found } of records) {
      for (const type of requestedTypes) addRecord(collected[type]!, found, { type, speakerAt })
      translations.add(found)
    }
  }
  const responses: Record<string, string> = {}
  if (requested.translation) {
    responses.translation = isTranslated
      ? await translations.write()
      : JSON.stringify(notConfiguredEnvelope('translation'))
  }
  for (const type of requestedTypes)
    responses[type] = await writeResponse(type, collected[type]!, format)
  const warnings = [
    ...requestedTypes.flatMap((type) => failureWarnings(type, collected[type]!)),
    ...translations.warnings(),
  ]
  return { responses, warnings, usage: translations.usage }
}

function emptyResults(): UtteranceResults {
  return { entries: [], seconds: 0, successes: 0, failures: 0, error: null }
}

type TimedResult = { start: number; end: number; speaker?: number }

function addRecord(
  collected: UtteranceResults,
  { channel, results }: AddOnRecord,
  { type, speakerAt }: Pick<CollectOptions, 'speakerAt'> & { type: UtteranceAddOn },
): void {
  const envelope = results[type]
  if (!envelope) return
  collected.seconds += envelope.exec_time
  collected.error ??= envelope.error
  if (!envelope.success) {
    collected.failures++
    return
  }
  collected.successes++
  for (const timedResult of envelope.results as TimedResult[]) {
    const speaker =
      timedResult.speaker === undefined ? undefined : speakerAt({ ...timedResult, channel })
    const sent = speaker === undefined ? timedResult : { ...timedResult, speaker }
    collected.entries.push({ start: timedResult.start, channel, json: JSON.stringify(sent) })
  }
}

/**
 * Returns a warning for an add-on that failed on some utterances; one that failed on all of them
 * has an error instead.
 */
function failureWarnings(
  type: UtteranceAddOn,
  { successes, failures, error }: UtteranceResults,
): string[] {
  if (failures === 0 || successes === 0) return []
  const reason = error ? `: ${error.message}` : ''
  return [`${type} failed on ${failures} of ${failures + successes} utterances${reason}`]
}

async function writeResponse(
  type: UtteranceAddOn,
  { entries, seconds, successes, error }: UtteranceResults,
  format: ResultFormat,
): Promise<string> {
  if (error && successes === 0)
    return JSON.stringify(failedEnvelope(type, error, { seconds, format }))
  // Sorted by channel as well, since the order of results of several channels differs from run to
  // run.
  entries.sort((a, b) => a.start - b.start || a.channel - b.channel)
  const list = `[${await joinTexts(entries, { separator: ',', textOf: ({ json }) => json })}]`
  // The API defines these results as the JSON text of an array.
  const isText = type === 'sentiment_analysis' && format === 'string'
  const head = {
    success: true,
    is_empty: entries.length === 0,
    exec_time: roundTo(seconds, 6),
    error: null,
  }
  const results = isText ? JSON.stringify(list) : list
  return `${JSON.stringify(head).slice(0, -1)},"results":${results}}`
}
