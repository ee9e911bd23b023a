import { stat } from 'node:fs/promises'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { countsOf } from '../../asr/speakers/requested-counts.ts'
import type {
  CheckpointEmbeddings,
  SpeakerUtterance,
  SpeechEngine,
} from '../../asr/speech-engine.ts'
import { secondsSince } from '../../clock.ts'
import type { Log } from '../../observability/log.ts'
import {
  type AddOnError,
  diarizationFailed,
  timeoutError,
} from '../../text/result/steps/envelope.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { type UtteranceView, viewLiveUtterance } from '../../transcript/utterance-view.ts'
import type { Journal } from '../journal/journal.ts'
import { formatLogRecord, type ReadLog } from '../journal/log-records.ts'
import type { DiarizationParams } from '../request/diarization-params.ts'
import { readUtterances } from '../result/session-utterances.ts'

/** Options for diarizing a session whose audio is fully recognized. */
export type DiarizeSessionOptions = {
  speech: Pick<SpeechEngine, 'diarize'>
  params: DiarizationParams
  /** The files with the samples of each channel. */
  channelPaths: readonly string[]
  readLog: ReadLog
  /** Rewrites the samples if they may have been lost; see `RecognitionLoop.restoreAllSamples`. */
  restoreSamples?: ((signal: AbortSignal) => Promise<void>) | undefined
  journal: Journal
  /** Seconds of audio. */
  duration: number
  /** Timeout in seconds, for tests. */
  timeout?: number
  log: Log
  signal: AbortSignal
}

/**
 * Timeout in seconds, and its increase per second of audio: some ten times what diarization takes
 * on one core.
 */
const TIMEOUT = 60
const TIMEOUT_PER_SECOND = 0.1
/** Utterances written to the log before yielding to the event loop. */
const BATCH = 500

/**
 * Finds the speaker of each word of a session, as for a recording, and writes the outcome to its
 * log: the utterances of the result, split at speaker changes, or the reason why diarization
 * failed. Rejects only when the session is suspended.
 */
export async function diarizeSession(options: DiarizeSessionOptions): Promise<void> {
  const { journal, duration, log, signal } = options
  const timeout = options.timeout ?? TIMEOUT + TIMEOUT_PER_SECOND * duration
  const timeoutSignal = AbortSignal.timeout(Math.ceil(timeout * 1000))
  const startedAt = performance.now()
  let [count, error] = [0, null as AddOnError | null]
  try {
    const views = await diarize({ ...options, signal: AbortSignal.any([signal, timeoutSignal]) })
    for (; count < views.length; count += BATCH) {
      const lines = views.slice(count, count + BATCH).map(writeView)
      journal.append({ lines })
      await yieldToEventLoop()
    }
    count = views.length
  } catch (cause) {
    signal.throwIfAborted()
    log.error({ err: cause }, 'diarization failed, provisional speakers stay')
    error = timeoutSignal.aborted ? timeoutError('diarization', timeout) : diarizationFailed(cause)
  }
  const seconds = roundTo(secondsSince(startedAt), 6)
  journal.append({
    lines: [formatLogRecord({ kind: 'diarized', diarized: { count, seconds, error } })],
  })
}

function writeView(view: UtteranceView): string {
  return formatLogRecord({ kind: 'spoken', text: JSON.stringify(view) })
}

async function diarize(options: DiarizeSessionOptions): Promise<UtteranceView[]> {
  const { speech, params, channelPaths, readLog, restoreSamples, signal } = options
  const transcript = await readTranscript(readLog)
  if (transcript.utterances.length === 0) return []
  await restoreSamples?.(signal)
  const channels = await Promise.all(
    channelPaths.map(async (path, channel) => {
      return { channel, path, samples: Math.floor((await stat(path)).size / 2) }
    }),
  )
  const counts = countsOf(params.realtime_processing.diarization_config)
  const checkpointEmbeddings: CheckpointEmbeddings = async ({ channel, part }, embed) => {
    const file = `${channelPaths[channel]}.embeddings-${part}`
    await embed(file)
    return file
  }
  const task = { transcript, channels, counts, checkpointEmbeddings }
  const utterances = await speech.diarize(task, { signal })
  return utterances.map((utterance) => viewSpeakerUtterance(utterance, params))
}

async function readTranscript(readLog: ReadLog): Promise<Transcript> {
  const { utterances: spoken } = await readUtterances(readLog)
  const utterances = spoken.map(({ channel, language, json }) => {
    const {
      words,
      model,
      language_confidence: languageConfidence,
    } = JSON.parse(json) as UtteranceView
    return {
      channel,
      language,
      ...(model !== undefined && { model }),
      ...(languageConfidence !== undefined && { languageConfidence }),
      words: words.map(({ word, ...rest }) => ({ text: word.trim(), ...rest })),
    }
  })
  return { utterances }
}

function viewSpeakerUtterance(
  { speakerConfidence, ...utterance }: SpeakerUtterance,
  { realtime_processing: { diarization_config } }: DiarizationParams,
): UtteranceView {
  const { words } = utterance
  const isRequested = diarization_config?.speaker_confidence === true
  const spokenUtterance = { ...utterance, ...(isRequested && { speakerConfidence }) }
  return viewLiveUtterance(spokenUtterance, { start: words[0]!.start, end: words.at(-1)!.end })
}
