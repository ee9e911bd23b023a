import { stat } from 'node:fs/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { retryOnce } from '../../asr/retry-once.ts'
import { countsOf } from '../../asr/speakers/requested-counts.ts'
import type { PcmFile, Segment, SpeakerUtterance, SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { type AddOnError, brokenDown, timedOut } from '../../text/result/envelope.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { Transcript, Word } from '../../transcript/transcript.ts'
import type { DiarizationParams } from '../diarization-params.ts'
import { type UtteranceView, viewUtterance } from '../messages/utterance-view.ts'
import type { Journal } from '../recovery/journal.ts'
import { type ReadLog, writeRecord } from '../recovery/session-log.ts'
import { readUtterances } from '../result/session-utterances.ts'

/** A session whose audio is fully recognized. */
export type DiarizeSessionOptions = {
  speech: Pick<SpeechEngine, 'workers' | 'planEmbeddings' | 'embedSpeakers' | 'findSpeakers'>
  params: DiarizationParams
  /** The files with the samples of each channel. */
  channelPaths: readonly string[]
  readLog: ReadLog
  /** Rewrites the samples where they may have been lost; see `RecognitionLoop`. */
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
 * Timeout in seconds, plus this much for each second of audio: some ten times what it takes on one
 * core.
 */
const TIMEOUT = 60
const TIMEOUT_PER_SECOND = 0.1
/** Utterances written to the log before yielding to the event loop. */
const BATCH = 500

/**
 * Finds the speaker of each word of a session, as for a recording, and writes the outcome to its
 * log: the utterances of the result, split anew at speaker changes, or the reason why there are
 * none. Rejects only when the session is left.
 */
export async function diarizeSession(options: DiarizeSessionOptions): Promise<void> {
  const { journal, duration, log, signal } = options
  const timeout = options.timeout ?? TIMEOUT + TIMEOUT_PER_SECOND * duration
  const late = AbortSignal.timeout(Math.ceil(timeout * 1000))
  const began = performance.now()
  let [count, error] = [0, null as AddOnError | null]
  try {
    const views = await diarize({ ...options, signal: AbortSignal.any([signal, late]) })
    for (; count < views.length; count += BATCH) {
      const lines = views.slice(count, count + BATCH).map(writeView)
      journal.append({ lines })
      await turn()
    }
    count = views.length
  } catch (cause) {
    signal.throwIfAborted()
    log.error({ err: cause }, 'diarization failed, provisional speakers stay')
    error = late.aborted ? timedOut('diarization', timeout) : explain(cause)
  }
  const seconds = roundTo((performance.now() - began) / 1000, 6)
  journal.append({
    lines: [writeRecord({ kind: 'diarized', diarized: { count, seconds, error } })],
  })
}

/** Names a model that the operator added; everything else is in the log. */
function explain(error: unknown): AddOnError {
  const why = brokenDown('diarization')
  const isModel = error instanceof AppError && error.code === 'speaker_model_unusable'
  return isModel ? { ...why, message: error.message } : why
}

function writeView(view: UtteranceView): string {
  return writeRecord({ kind: 'spoken', text: JSON.stringify(view) })
}

async function diarize(options: DiarizeSessionOptions): Promise<UtteranceView[]> {
  const { speech, params, channelPaths, readLog, restoreSamples, signal } = options
  const transcript = await readTranscript(readLog)
  if (transcript.utterances.length === 0) return []
  await restoreSamples?.(signal)
  const groups: Group[] = []
  for (const [channel, path] of channelPaths.entries()) {
    const words = wordsOf(transcript, channel)
    if (words.length === 0) continue
    const pcm = { path, samples: Math.floor((await stat(path)).size / 2) }
    const planned = speech.planEmbeddings(words, pcm)
    groups.push(...planned.map((regions, part) => ({ channel, pcm, regions, part })))
  }
  const embeddings = await embedSpeakers(groups, options)
  const counts = countsOf(params.realtime_processing.diarization_config)
  const task = { transcript, embeddings, counts }
  const utterances = await retryOnce(() => speech.findSpeakers(task, { signal }))
  return utterances.map((utterance) => viewUtterances(utterance, params))
}

type Group = { channel: number; pcm: PcmFile; regions: Segment[]; part: number }
type ChannelEmbeddingFiles = { channel: number; files: string[] }[]

/**
 * Embeds as many groups at a time as there are workers: waiting recordings get their turn in
 * between.
 */
async function embedSpeakers(
  groups: readonly Group[],
  options: DiarizeSessionOptions,
): Promise<ChannelEmbeddingFiles> {
  const { speech, params, channelPaths } = options
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const counts =
    channelPaths.length === 1 ? countsOf(params.realtime_processing.diarization_config) : {}
  const embedded = channelPaths.map((_, channel): ChannelEmbeddingFiles[number] => ({
    channel,
    files: [],
  }))
  const waiting = groups.values()

  async function embedNext(): Promise<void> {
    for (const { channel, pcm, regions, part } of waiting) {
      const to = `${pcm.path}.voices-${part}`
      embedded[channel]!.files[part] = to
      await retryOnce(() => speech.embedSpeakers(pcm, regions, { signal, to, counts }))
    }
  }

  const all = Array.from({ length: speech.workers }, embedNext)
  try {
    await Promise.all(all)
  } catch (error) {
    failed.abort(error) // The other results are useless now.
    await Promise.allSettled(all)
    throw error
  }
  return embedded
}

async function readTranscript(readLog: ReadLog): Promise<Transcript> {
  const { spokenUtterances } = await readUtterances(readLog)
  const utterances = spokenUtterances.map(({ channel, language, json }) => {
    const { words } = JSON.parse(json) as UtteranceView
    return {
      channel,
      language,
      words: words.map(({ word, ...rest }) => ({ text: word.trim(), ...rest })),
    }
  })
  return { utterances }
}

function wordsOf({ utterances }: Transcript, channel: number): Word[] {
  return utterances.filter((own) => own.channel === channel).flatMap(({ words }) => words)
}

function viewUtterances(
  { channel, language, words, speaker, speakerConfidence }: SpeakerUtterance,
  { realtime_processing: { diarization_config } }: DiarizationParams,
): UtteranceView {
  const span = { start: words[0]!.start, end: words.at(-1)!.end }
  const { words: written, ...view } = viewUtterance(words, { channel, language, span, speaker })
  const isRequested = diarization_config?.speaker_confidence === true
  const confidence = isRequested ? { speaker_confidence: roundTo(speakerConfidence, 3) } : {}
  return { ...view, ...confidence, words: written }
}
