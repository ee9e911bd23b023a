import { warnOfLowConfidence } from '../../asr/recognition/low-confidence.ts'
import type { AudioFormat } from '../../audio/audio-format.ts'
import type { Log } from '../../observability/log.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import {
  type AddOnError,
  failedEnvelope,
  type ResultFormat,
} from '../../text/result/steps/envelope.ts'
import { notConfiguredEnvelope } from '../../text/result/steps/not-configured.ts'
import { sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import type { Journal } from '../journal/journal.ts'
import type { ReadLog } from '../journal/log-records.ts'
import { readWarnings, warningTexts } from '../journal/session-warnings.ts'
import { collectAddOnResults } from '../result/add-on-results.ts'
import {
  buildLiveResult,
  buildTranscription,
  type SessionTranscription,
} from '../result/build-live-result.ts'
import { measureMessages, withMessages } from '../result/result-messages.ts'
import { createSpeakerLookup } from '../result/speaker-lookup.ts'
import type { MessagePublisher } from './message-publisher.ts'
import type { AddOnParams } from './realtime-add-ons.ts'
import { dataOf } from './server-messages.ts'
import type { MemoizeResponse, ServiceEnvelope, SessionServices } from './session-services.ts'

/** The outcome of a session. */
export type FinishedSession = {
  /** Returns the result as JSON text in chunks; it may be called more than once. */
  result(): AsyncIterable<string>
  format: AudioFormat
  audioBytes: number
  /** Seconds of audio. */
  duration: number
  /** Tokens that language models used. */
  llm?: TokenUsage | undefined
}

/** Options for closing a session whose audio is fully recognized. */
export type ClosingMessagesOptions = {
  sessionId: string
  params: AddOnParams
  format: AudioFormat
  audioBytes: number
  duration: number
  /** Seconds of processing time. */
  workSeconds: number
  hasAcks: boolean
  maxMessages: number
  maxMessageBytes: number
  log: Log
  readLog: ReadLog
  /**
   * Diarizes the session and logs the outcome; undefined when diarization was not requested, or an
   * earlier process logged its outcome.
   */
  diarize?: (() => Promise<void>) | undefined
  text: Pick<SessionText, 'runAddOn' | 'warnings'>
  services?: Pick<SessionServices, 'summarize' | 'answerPrompts'> | undefined
  resultFormat: ResultFormat
  /**
   * Called when no other message may be sent any more, so that result and callback end with the
   * same messages.
   */
  onSent(): void
  publisher: MessagePublisher
  journal: Journal
  /** Aborted when the session is suspended; then nothing more is stored. */
  signal: AbortSignal
}

/**
 * Sends the messages about the whole session, in the order that the API documents, and builds its
 * outcome. The returned `end` sends the last two messages, which are part of the result and
 * therefore wait until the result is stored.
 */
export async function sendClosingMessages(
  options: ClosingMessagesOptions,
): Promise<{ outcome: FinishedSession; end: () => Promise<void> }> {
  const { sessionId, params, format, audioBytes, duration, workSeconds, readLog } = options
  const { publisher, journal, signal } = options
  const { channels } = format
  const isClosing = true
  publisher.sendOnce(
    { type: 'end_recording', data: { recording_duration: duration } },
    { isClosing },
  )
  await journal.flushed()
  signal.throwIfAborted()
  await options.diarize?.()
  await journal.flushed()
  signal.throwIfAborted()
  const { transcription, utterancesJson, utterances, diarized } = await buildTranscription(readLog)
  publisher.sendOnce({ type: 'post_transcript', text: transcription }, { isClosing })
  const transcript = { utterancesJson, utterances }
  const summary = await publisher.sendSummary((memoize) =>
    summarizeSession(transcript, memoize, options),
  )
  const prompted = await publisher.sendAnswers((memoize) =>
    answerPrompts(transcript, memoize, options),
  )
  const { usage: summaryUsage, ...summarization } = summary ?? {}
  const { usage: promptUsage, ...answers } = prompted ?? {}
  const collected = await collectAddOnResults(readLog, params, {
    format: options.resultFormat,
    speakerAt: createSpeakerLookup(utterances),
    hasServices: options.services !== undefined,
  })
  const addOns = {
    ...(summary && { summarization: JSON.stringify(summarization) }),
    ...(prompted && { audio_to_llm: JSON.stringify(answers) }),
    ...collected.responses,
    ...(diarized?.error && { diarization: writeFailure(diarized.error, diarized) }),
  }
  const totalSeconds = workSeconds + (diarized?.seconds ?? 0)
  const confidences = utterances.flatMap(({ confidences }) => confidences)
  const confidenceWarnings = warnOfLowConfidence({ confidences })
  const warnings = await collectWarnings([...collected.warnings, ...confidenceWarnings], options)
  const usage = sumUsage([collected.usage, summaryUsage, promptUsage])
  const metadata = { duration, channels, work: totalSeconds, warnings, usage }
  const result = buildLiveResult(transcription, { ...metadata, addOns })
  // A result that an earlier process sent is kept: its processing time differs from this one.
  const type = 'post_final_transcript'
  const earlier = publisher.earlierText(type)
  const messageData = earlier === undefined ? result : dataOf(earlier, { type, sessionId })
  // Each of the transcripts may be megabytes: yield to the event loop between them.
  await journal.flushed()
  options.onSent()
  const lastMessages = [
    publisher.prepareOnce({ type, text: messageData }, { isClosing }),
    publisher.prepareOnce({ type: 'end_session' }, { isClosing }),
  ]
  await journal.flushed()
  signal.throwIfAborted()
  const outcome = {
    result: () => withMessages(messageData, readLog, options),
    format,
    audioBytes,
    duration,
    llm: usage,
  }
  async function end(): Promise<void> {
    await Promise.all(lastMessages.map((send) => send()))
  }
  return { outcome, end }
}

/** Returns the warnings of the whole session; `resultWarnings` are those of its result. */
async function collectWarnings(
  resultWarnings: readonly string[],
  options: ClosingMessagesOptions,
): Promise<string[]> {
  const { readLog, text, log } = options
  const warnings = [...(await readWarnings(readLog)), ...text.warnings(), ...resultWarnings]
  if ((await measureMessages(readLog, options)).isCut) {
    const warning = warningTexts.unstored
    log.warn({ warning }, 'messages of a live session were dropped from its result')
    warnings.push(warning)
  }
  return warnings
}

function writeFailure(error: AddOnError, { seconds }: { seconds: number }): string {
  return JSON.stringify(failedEnvelope('diarization', error, { seconds }))
}

type TranscriptText = Pick<SessionTranscription, 'utterancesJson' | 'utterances'>
type ClosingAddOnOptions = Pick<ClosingMessagesOptions, 'params' | 'text' | 'services' | 'signal'>

async function summarizeSession(
  { utterancesJson, utterances }: TranscriptText,
  memoize: MemoizeResponse,
  { params, text, services, signal }: ClosingAddOnOptions,
): Promise<ServiceEnvelope | undefined> {
  if (!params.post_processing.summarization) return undefined
  if (services?.summarize) return services.summarize(utterances, { signal, memoize })
  return text.runAddOn('summarization', utterancesJson, { signal })
}

async function answerPrompts(
  { utterances }: TranscriptText,
  memoize: MemoizeResponse,
  { params, services, signal }: ClosingAddOnOptions,
): Promise<ServiceEnvelope | undefined> {
  if (!params.post_processing.audio_to_llm) return undefined
  if (!services?.answerPrompts) return notConfiguredEnvelope('audio_to_llm')
  return services.answerPrompts(utterances, { signal, memoize })
}
