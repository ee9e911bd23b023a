import { setImmediate as turn } from 'node:timers/promises'
import type { TokenUsage } from '../../text/result/token-usage.ts'
import { languagesBySpeech } from '../../text/result/transcript-result.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { DiarizedRecord, ReadLog } from '../journal/log-records.ts'
import { readUtterances, type SessionUtterance } from './session-utterances.ts'

/**
 * The transcript of a session, as JSON texts: the transcription of its result, and the utterances
 * of that. `diarized` is the outcome of diarization at the end, if it was requested.
 */
export type TranscriptionText = {
  transcription: string
  utterances: string
  spokenUtterances: readonly SessionUtterance[]
  diarized: DiarizedRecord | undefined
}

/** The content of a result besides the transcript. */
export type SessionResultOptions = {
  /** Seconds. */
  duration: number
  channels: number
  work: number
  /** What the user should know: what was left out, and why. */
  warnings: readonly string[]
  /** What language models took, if any were asked. */
  usage?: TokenUsage | undefined
  /** JSON texts by key. */
  addOns: Readonly<Record<string, string>>
}

/** Builds the transcript of a session. */
export async function buildTranscription(readLog: ReadLog): Promise<TranscriptionText> {
  const { spokenUtterances, diarized } = await readUtterances(readLog)
  const texts = await joinTexts(spokenUtterances, { separator: ' ', textOf: ({ text }) => text })
  const views = await joinTexts(spokenUtterances, { separator: ',', textOf: ({ json }) => json })
  const head = { full_transcript: texts, languages: languagesBySpeech(spokenUtterances) }
  const utterances = `[${views}]`
  const transcription = `${JSON.stringify(head).slice(0, -1)},"utterances":${utterances}}`
  return { transcription, utterances, spokenUtterances, diarized }
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

/** Utterances that are joined before yielding to the event loop. */
const BATCH = 1000

/** Joins texts of utterances; together they are megabytes. */
export async function joinTexts<T>(
  utterances: readonly T[],
  { separator, textOf }: { separator: string; textOf: (one: T) => string },
): Promise<string> {
  const batches: string[] = []
  for (let at = 0; at < utterances.length; at += BATCH) {
    batches.push(
      utterances
        .slice(at, at + BATCH)
        .map(textOf)
        .join(separator),
    )
    await turn()
  }
  const all = batches.join(separator)
  await turn()
  return all
}
