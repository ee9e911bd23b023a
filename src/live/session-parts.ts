import type { LiveRecognizer } from '../asr/live-recognizer.ts'
import { countsOf } from '../asr/speakers/requested-counts.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import { type AudioFormat, frameBytes } from '../audio/audio-format.ts'
import type { LiveConfig } from '../config.ts'
import type { Log } from '../log.ts'
import type { LiveFiles } from '../storage/live/live-files.ts'
import type { ResultForm } from '../text/add-on.ts'
import type { SessionText } from '../text/live/live-text.ts'
import { roundTo } from '../transcript/rounding.ts'
import { wantsSpeakers } from './diarization-params.ts'
import { formatOf, secondsOf } from './input/audio-format.ts'
import { AudioInput } from './input/audio-input.ts'
import { endpointingOf, type LiveParams } from './live-params.ts'
import type { Outcome } from './messages/final-messages.ts'
import { MessageEmitter } from './messages/message-emitter.ts'
import { MessageOutbox } from './messages/message-outbox.ts'
import { realtimeHooks } from './messages/realtime-add-ons.ts'
import { partialHead, routingOf } from './messages/server-messages.ts'
import type { UnreadShare } from './messages/unread-bytes.ts'
import { diarizeSession } from './recognition/diarize-session.ts'
import { RecognitionLoop } from './recognition/recognition-loop.ts'
import { createSessionLanguage } from './recognition/session-language.ts'
import { Journal } from './recovery/journal.ts'
import { writeRecord } from './recovery/session-log.ts'
import { nothingSent, type RecoveredSession } from './recovery/session-recovery.ts'
import { createWarnings, warningTexts } from './recovery/session-warnings.ts'
import type { SessionMetrics } from './sessions/session-metrics.ts'

/** Options of a session. */
export type SessionOptions = {
  id: string
  /** The account that owns it; absent in tests of one session. */
  account?: string | undefined
  /** In milliseconds since 1970. */
  createdAt: number
  params: LiveParams
  files: LiveFiles
  /** The files to which the samples of each channel are written. */
  channelPaths: readonly string[]
  models: LiveRecognizer
  /** Diarizes the session when all audio is recognized. */
  speech: Pick<SpeechEngine, 'workers' | 'planEmbeddings' | 'embedSpeakers' | 'findSpeakers'>
  /** Counts what its clients have not read. */
  unread?: UnreadShare | undefined
  /** Returns whether its account exceeds its share of an overloaded machine. */
  isOverShare?: (() => boolean) | undefined
  /** Processes its words. */
  text: SessionText
  /** The form of add-on results in its result. */
  form: ResultForm
  /** Languages that some model supports. */
  languages: readonly string[]
  config: LiveConfig
  /** What an earlier process logged about it; absent for a new session. */
  earlier?: RecoveredSession | undefined
  /** Stores the outcome and ends the job with it; retries as often as necessary. */
  finish(outcome: Outcome, signal: AbortSignal): Promise<void>
  /** Ends the job as failed. */
  fail(): Promise<void>
  /** Called when more of its log is on the disk. */
  onStored?: (() => void) | undefined
  watch?: SessionMetrics | undefined
  log: Log
}

/** The callbacks from the parts of a session. */
export type PartsOptions = {
  log: Log
  /** Aborted when the session is left. */
  signal: AbortSignal
  /** Called when nothing more can be stored. */
  onBroken(error: unknown): void
  /** Called when more audio was written or processed. */
  onProgress(): void
}

/**
 * The connected parts of a session: from audio input and recognition through the message emitter to
 * outbox and journal.
 */
export type SessionParts = {
  format: AudioFormat
  journal: Journal
  outbox: MessageOutbox
  emitter: MessageEmitter
  audioInput: AudioInput
  recognition: RecognitionLoop
  /** Diarizes at the end, if requested and not already done by an earlier process. */
  diarize: (() => Promise<void>) | undefined
  /** Logs what the result lacks, once. */
  warn(text: string): void
  /** Returns whether the session holds more than a result can be built from. */
  isTooLarge(): boolean
  /** Frames of audio in the files. */
  frames(): number
  /** Seconds of audio accepted. */
  seconds(): number
}

/**
 * The share of the log that the transcript may take: several copies of it exist while the result is
 * built.
 */
const TRANSCRIPT_SHARE = 1 / 8

/** Creates the parts of a session; none of them is running yet. */
export function createParts(
  options: SessionOptions,
  { log, signal, onBroken, onProgress }: PartsOptions,
): SessionParts {
  const { id, params, files, text, config, earlier, onStored, watch } = options
  const format = formatOf(params)
  const frames = () => Math.floor(files.audioBytes / frameBytes(format))
  const seconds = () => roundTo(secondsOf(audioInput.audio, format), 6)
  const { maxLogBytes } = config
  const journal = new Journal({ files, log, signal, onStored, onBroken, maxLogBytes })
  const warn = createWarnings({ journal, log, sent: earlier?.warnings ?? [] })
  const outbox = new MessageOutbox({
    sessionId: id,
    routing: routingOf(params),
    journal,
    maxMissed: config.maxQueuedMessages,
    unread: options.unread,
    onCut: () => warn(warningTexts.unread),
    onUnkept: () => warn(warningTexts.unkept),
    earlier: earlier?.messages,
  })
  const hooks = realtimeHooks(params, text)
  const sent = earlier?.sent ?? nothingSent()
  const emitter = new MessageEmitter({ outbox, journal, hooks, sent, seconds, watch, log, signal })
  const audioInput = new AudioInput({
    sessionId: id,
    format,
    keepSeconds: config.resumeDedupe,
    earlier: earlier?.chunks,
    files,
    journal,
    outbox,
    watch,
    onWritten: () => {
      recognition.grown(frames())
      onProgress()
    },
    onMisuse: () => outbox.connection?.end(4400),
  })
  const recognition = new RecognitionLoop(
    {
      models: options.models,
      audio: {
        path: files.audioPath,
        start: files.audioStart,
        format,
        isEnhanced: params.pre_processing.audio_enhancer,
        channels: options.channelPaths,
      },
      endpointing: endpointingOf(params, config),
      language: createSessionLanguage(params.language_config, {
        installed: options.languages,
        decided: earlier?.snapshot?.language ?? null,
      }),
      change: text.change,
      speakers: wantsSpeakers(params)
        ? countsOf(params.realtime_processing.diarization_config)
        : undefined,
      partialIntervalMs: config.partialIntervalMs,
      tell: (event) => emitter.recognized(event),
      isOverShare: options.isOverShare,
      wantsPartials: () => outbox.isWanted(partialHead),
      onRecognized: onProgress,
      onSnapshot: (snapshot) => {
        journal.append({ lines: [writeRecord({ kind: 'snapshot', snapshot })] })
      },
      log,
      signal,
    },
    earlier?.snapshot,
  )
  const diarize = () => {
    return diarizeSession({
      ...options,
      readLog: () => files.readLines(),
      // Unlike the audio, samples are never synced: a power failure may have erased them.
      restoreSamples: earlier && ((signal) => recognition.restoreAllSamples(signal)),
      journal,
      duration: seconds(),
      log,
      signal,
    })
  }
  const isTooLarge = () => {
    return journal.isFull || emitter.utteranceBytes > maxLogBytes * TRANSCRIPT_SHARE
  }
  const isToDiarize = wantsSpeakers(params) && !earlier?.isDiarized
  const parts = { format, journal, outbox, emitter, audioInput, recognition, warn, frames, seconds }
  return { ...parts, isTooLarge, diarize: isToDiarize ? diarize : undefined }
}
