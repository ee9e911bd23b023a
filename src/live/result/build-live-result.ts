import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { TokenUsage } from '../../text/result/token-usage.ts'
import { languagesBySpeech } from '../../text/result/transcript-result.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { DiarizedRecord, ReadLog } from '../journal/log-records.ts'
import { readUtterances, type SessionUtterance } from './session-utterances.ts'

/**
 * The transcript of a session. `transcription` is the JSON text of that field of the result, and
 * `utterancesJson` the list in it. `diarized` is the outcome of diarization at the
 * end, if it was requested.
 */
export type SessionTranscription = {
  transcription: string
  utterancesJson: string
  utterances: readonly SessionUtterance[]
  diarized: DiarizedRecord | undefined
}

/** The content of a result besides the transcript. */
export type SessionResultOptions = {
  /** The length of the audio in seconds. */
  duration: number
  channels: number
  /** Processing time in seconds. */
  work: number
  /** Warnings for the user, for example about what the result lacks. */
  warnings: readonly string[]
  /** The tokens that language models used, if any. */
  usage?: TokenUsage | undefined
  /** The results of add-ons as JSON texts, by their key in the result. */
  addOns: Readonly<Record<string, string>>
}

/** Builds the transcript of a session. */
export async function buildTranscription(readLog: ReadLog): Promise<SessionTranscription> {
  const { utterances, diarized } = await readUtterances(readLog)
  const fullTranscript = await joinTexts(utterances, {
    separator: ' ',
    textOf: ({ text }) => text,
  })
  const utteranceJsons = await joinTexts(utterances, {
    separator: ',',
    textOf: ({ json }) => json,
  })
  const transcriptFields = {
    full_transcript: fullTranscript,
    languages: languagesBySpeech(utterances),
  }
  const utterancesJson = `[${utteranceJsons}]`
  const transcription = `${JSON.stringify(transcriptFields).slice(0, -1)},"utterances":${utterancesJson}}`
  return { transcription, utterancesJson, utterances, diarized }
}

/** Builds the result of a session as JSON text, without its messages. */
export function buildLiveResult(
  transcription: string,
  { duration, channels, work, warnings, usage, addOns }: SessionResultOptions,
): string {
  const seconds = roundTo(duration, 6)
  const metadata = JSON.stringify({
    audio_duration: seconds,
    number_of_distinct_channels: channels,
    billing_time: roundTo(seconds * channels, 6),
    transcription_time: roundTo(work, 6),
    warnings,
    ...(usage && { usage }),
  })
  const parts = Object.entries({ metadata, transcription, ...addOns })
  return `{${parts.map(([key, json]) => `"${key}":${json}`).join(',')}}`
}

/** The number of utterances that are joined before yielding to the event loop. */
const BATCH = 1000

/**
 * Joins texts in batches and yields to the event loop between them: megabytes of text would block
 * it.
 */
export async function joinTexts<T>(
  items: readonly T[],
  { separator, textOf }: { separator: string; textOf: (item: T) => string },
): Promise<string> {
  const batches: string[] = []
  for (let at = 0; at < items.length; at += BATCH) {
    batches.push(
      items
        .slice(at, at + BATCH)
        .map(textOf)
        .join(separator),
    )
    await yieldToEventLoop()
  }
  const all = batches.join(separator)
  await yieldToEventLoop()
  return all
}
