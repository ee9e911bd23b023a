import type { LiveEngine } from '../asr/live-engine/live-engine.ts'
import { countsOf } from '../asr/speakers/requested-counts.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import type { LiveConfig } from '../config/live.ts'
import type { Log } from '../observability/log.ts'
import type { JobFailure } from '../storage/jobs/finish-job.ts'
import type { SessionStore } from '../storage/live/session-store.ts'
import type { SessionText } from '../text/live/session-text.ts'
import type { ResultFormat } from '../text/result/steps/envelope.ts'
import type { CallbackFeed } from './callbacks/callback-feed.ts'
import { AudioInput } from './input/audio-input.ts'
import { formatOf } from './input/session-format.ts'
import { Journal } from './journal/journal.ts'
import { nothingSent, type RecoveredSession } from './journal/session-recovery.ts'
import { createWarnings } from './journal/session-warnings.ts'
import type { CaptionFeed } from './messages/caption-feed.ts'
import type { FinishedSession } from './messages/closing-messages.ts'
import { MessageOutbox } from './messages/message-outbox.ts'
import { MessagePublisher } from './messages/message-publisher.ts'
import { PartialTranslations } from './messages/partial-translations.ts'
import { realtimeHooks, translationMessages } from './messages/realtime-add-ons.ts'
import { partialHead, routingOf } from './messages/server-messages.ts'
import type { SessionServices } from './messages/session-services.ts'
import type { SessionUnreadBytes } from './messages/unread-bytes.ts'
import { diarizeSession } from './recognition/diarize-session.ts'
import { RecognitionLoop, type RecognitionLoopOptions } from './recognition/recognition-loop.ts'
import { createSessionLanguage } from './recognition/session-language.ts'
import { wantsSpeakers } from './request/diarization-params.ts'
import { endpointerOptionsOf, type LiveParams, requestOf } from './request/live-params.ts'
import type { SessionMetrics } from './sessions/session-metrics.ts'

/** Options of a session. */
export type SessionOptions = {
  id: string
  /** The account that owns the session; absent in tests of one session. */
  account?: string | undefined
  /** The time of its creation, in milliseconds since 1970. */
  createdAt: number
  params: LiveParams
  store: SessionStore
  /** The local file with the audio of the session from byte `start` on; recognition reads it. */
  audioFile: { path: string; start: number }
  /** The files to which the samples of each channel are written. */
  channelPaths: readonly string[]
  engine: LiveEngine
  /** Chooses the recognizers, and diarizes the session when all audio is recognized. */
  speech: Pick<SpeechEngine, 'languages' | 'selectModels' | 'diarize'>
  /** Counts the bytes that its clients have not read. */
  unread?: SessionUnreadBytes | undefined
  /** Returns whether its account exceeds its share of an overloaded machine. */
  isOverFairShare?: (() => boolean) | undefined
  /** Called when a client has received all messages, the whole result included. */
  onResultDelivered?: (() => void) | undefined
  /** Applies text add-ons and transforms to its words. */
  text: SessionText
  /** Translates and summarizes; absent on a server without a language model. */
  services?: SessionServices | undefined
  /** Warnings about its request, which are repeated in its result. */
  requestWarnings?: readonly string[] | undefined
  /** The format of add-on results in its result. */
  resultFormat: ResultFormat
  /** Whether its utterances name their model. */
  namesModels?: boolean | undefined
  config: LiveConfig
  /** The state that an earlier process logged; absent for a new session. */
  earlier?: RecoveredSession | undefined
  /** Stores the outcome and ends the job with it; retries as often as necessary. */
  finish(outcome: FinishedSession, signal: AbortSignal): Promise<void>
  /** Ends the job as failed. */
  fail(failure?: JobFailure): Promise<void>
  /** The feed of its callback, which is woken when more of its log is on disk. */
  feed?: Pick<CallbackFeed, 'wake'> | undefined
  /**
   * Aborted when another node has taken over the session, which then stops at once and writes
   * nothing more.
   */
  lost?: AbortSignal | undefined
  metrics?: SessionMetrics | undefined
  /** Publishes its transcripts to watchers. */
  captions?: CaptionFeed | undefined
  log: Log
}

/**
 * The parts of a session: audio input and message publisher write to the journal, and the outbox
 * sends messages once they are stored.
 */
export type SessionComponents = {
  journal: Journal
  /** Logs what the result lacks, once. */
  warn(text: string): void
  outbox: MessageOutbox
  audioInput: AudioInput
  publisher: MessagePublisher
  recognition: RecognitionLoop
  /** Diarizes at the end, if requested and not already done by an earlier process. */
  diarize: (() => Promise<void>) | undefined
}

type ComponentOptions = {
  log: Log
  /** Aborted when the session is suspended. */
  signal: AbortSignal
}

/** Creates the parts of a session; none of them is running yet. */
export function createComponents(
  options: SessionOptions,
  { log, signal }: ComponentOptions,
): SessionComponents {
  const { id: sessionId, params, store, text, config, earlier, metrics, captions } = options
  const journal = new Journal({ store, log, signal, maxLogBytes: config.maxLogBytes })
  const warn = createWarnings({ journal, log, logged: earlier?.warnings ?? [] })
  for (const warning of options.requestWarnings ?? []) warn(warning)
  const outbox = new MessageOutbox({
    sessionId,
    routing: routingOf(params),
    journal,
    warn,
    captions,
    maxMissed: config.maxQueuedMessages,
    unread: options.unread,
    earlier: earlier?.messages,
  })
  const audioInput = new AudioInput({
    sessionId,
    format: formatOf(params),
    store,
    journal,
    outbox,
    metrics,
    warn,
    keepSeconds: config.resumeDedupe,
    earlier: earlier?.chunks,
  })
  const publisher = new MessagePublisher({
    outbox,
    journal,
    metrics,
    log,
    signal,
    hooks: realtimeHooks(params, text, options.services),
    partials: createPartialTranslations(options, { outbox, log, signal }),
    sent: earlier?.sent ?? nothingSent(),
    seconds: () => audioInput.seconds,
  })
  const wantsPartials = () => outbox.hasReceiverNow(partialHead)
  const recognition = createRecognition(options, { wantsPartials, warn, log, signal })
  const diarize = () => {
    return diarizeSession({
      ...options,
      journal,
      log,
      signal,
      duration: audioInput.seconds,
      readLog: () => store.readLines(),
      // Unlike the audio, samples are never synced: a power failure may have erased them.
      restoreSamples: earlier && ((signal) => recognition.restoreAllSamples(signal)),
    })
  }
  const isToDiarize = wantsSpeakers(params) && !earlier?.isDiarized
  const components = { journal, warn, outbox, audioInput, publisher, recognition }
  return { ...components, diarize: isToDiarize ? diarize : undefined }
}

/**
 * Creates the translation of partials, if it is requested and the server has services; undefined
 * otherwise.
 */
function createPartialTranslations(
  { params, services }: SessionOptions,
  { outbox, ...running }: ComponentOptions & Pick<SessionComponents, 'outbox'>,
): PartialTranslations | undefined {
  const { translation, translation_config: config } = params.realtime_processing
  if (!services || !translation || !config?.partials) return undefined
  return new PartialTranslations({
    ...running,
    services,
    send(partial, envelope) {
      const messages = translationMessages(envelope, partial, { ...config, isFinal: false })
      for (const message of messages)
        if (!('error' in message && message.error)) outbox.send(message)
    },
  })
}

function createRecognition(
  options: SessionOptions,
  running: ComponentOptions & Pick<RecognitionLoopOptions, 'wantsPartials' | 'warn'>,
): RecognitionLoop {
  const { params, config, earlier } = options
  const loopOptions = {
    ...running,
    engine: options.engine,
    selection: options.speech.selectModels(requestOf(params)),
    audio: {
      ...options.audioFile,
      format: formatOf(params),
      isDenoised: params.pre_processing.audio_enhancer,
      channels: options.channelPaths,
    },
    endpointing: endpointerOptionsOf(params, config),
    language: createSessionLanguage(params.language_config, {
      installed: options.speech.languages,
      decided: earlier?.snapshot?.language ?? null,
    }),
    applyTransforms: options.text.applyTransforms,
    speakers: wantsSpeakers(params)
      ? countsOf(params.realtime_processing.diarization_config)
      : undefined,
    namesModels: options.namesModels,
    partialIntervalMs: config.partialIntervalMs,
    isOverFairShare: options.isOverFairShare,
  }
  return new RecognitionLoop(loopOptions, earlier?.snapshot)
}
