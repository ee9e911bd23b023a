import type { LiveAudio, LiveEngine } from '../../asr/live-engine/live-engine.ts'
import {
  createSessionSpeakers,
  type SessionSpeakers,
} from '../../asr/live-engine/session-speakers.ts'
import type { ModelSelection } from '../../asr/model-selection/select-models.ts'
import { VAD_FRAME } from '../../asr/segmentation/vad-frames.ts'
import type { SpeakerCounts } from '../../asr/speech-engine.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { secondsSince } from '../../clock.ts'
import type { Log } from '../../observability/log.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import type { PendingUtterance, Snapshot } from '../journal/log-records.ts'
import { ChannelRecognizer } from './channel-recognizer.ts'
import {
  createEndpointer,
  type EndpointerOptions,
  initialEndpointerState,
} from './endpointing/endpointer.ts'
import type { ChannelEvent } from './events/channel-events.ts'
import { EventQueue } from './events/event-queue.ts'
import { createFinalOrder } from './events/final-order.ts'
import { AudioPace } from './load/audio-pace.ts'
import { SpeechLoad } from './load/speech-load.ts'
import { retryEngineCall } from './retry-engine-call.ts'
import type { SessionLanguage } from './session-language.ts'

/** Options of the recognition loop. */
export type RecognitionLoopOptions = {
  engine: LiveEngine
  /** The recognizers of the session. */
  selection: ModelSelection
  audio: LiveAudio
  endpointing: EndpointerOptions
  language: SessionLanguage
  applyTransforms: SessionText['applyTransforms']
  /** Requests speaker labels, with the number of speakers that the client states. */
  speakers?: SpeakerCounts | undefined
  /** Finals name their model. */
  namesModels?: boolean | undefined
  partialIntervalMs: number
  /** Called with warnings for the user, also repeatedly. */
  warn(text: string): void
  /** Returns whether the account exceeds its fair share, so that its work gets low priority. */
  isOverFairShare?: (() => boolean) | undefined
  /** Returns whether any consumer needs partials now. */
  wantsPartials(): boolean
  log: Log
  signal: AbortSignal
}

/**
 * An event of the recognition: an event of a channel; `progress` after each span of audio; from
 * time to time, after everything before it, a snapshot to resume from.
 */
export type RecognitionEvent =
  | ChannelEvent
  | { type: 'progress' }
  | { type: 'snapshot'; snapshot: Snapshot }

/**
 * A session gets low priority if it has more unprocessed audio than this, or if its audio is
 * further ahead of the clock than this.
 */
const BEHIND_SECONDS = 2
/** A snapshot to resume from is written after this many frames (5 s). */
const SNAPSHOT_FRAMES = 156
/** Partials are started after this many frames (0.5 s), however much audio arrives at once. */
const PARTIAL_FRAMES = 16
/**
 * With more unprocessed audio than this, the loop waits for partials; otherwise the utterance would
 * end before them.
 */
const PARTIAL_WAIT_SECONDS = 0.5
/** Timeout of that wait: a machine with spare capacity recognizes a partial in less. */
const PARTIAL_TIMEOUT_MS = 300
const FRAME_SECONDS = VAD_FRAME / SAMPLE_RATE

/** A range of VAD frames; `isEnd` means that no more audio follows. */
type FrameRange = { from: number; to: number; isEnd: boolean; signal: AbortSignal }

/**
 * Recognizes the audio of a session as it grows: detects speech on each channel, and recognizes it.
 * All channels advance together, frame by frame, so that a single number is the position.
 */
export class RecognitionLoop {
  readonly #options: RecognitionLoopOptions
  readonly #channels: ChannelRecognizer[]
  readonly #events = new EventQueue<RecognitionEvent>()
  readonly #speakers: SessionSpeakers | undefined
  readonly #pendingFinals: readonly PendingUtterance[]
  /** The next VAD frame (32 ms) to process. */
  #vadFrame: number
  #snapshotAt: number
  /** The number of audio frames (not VAD frames) that have arrived, in the session's own format. */
  #availableFrames = 0
  #isEnd = false
  #workSeconds: number
  #wake: (() => void) | undefined
  readonly #speechLoad: SpeechLoad
  readonly #pace = new AudioPace({ maxLead: BEHIND_SECONDS })

  constructor(options: RecognitionLoopOptions, snapshot?: Snapshot) {
    this.#options = options
    const { engine, selection, audio, language, applyTransforms, speakers, log, signal } = options
    const { warn, partialIntervalMs, namesModels } = options
    // One listener for the whole session: one for each wait would be a hundred thousand.
    signal.addEventListener('abort', () => this.#wake?.(), { once: true })
    const onWork = (seconds: number) => {
      this.#workSeconds += seconds
    }
    const endpointer = createEndpointer(options.endpointing)
    const channels = audio.channels.length
    const sessionSpeakers =
      speakers && createSessionSpeakers({ channels, counts: speakers }, snapshot?.speakers)
    this.#speakers = sessionSpeakers
    const sharedOrder = createFinalOrder()
    const shared = {
      engine,
      selection,
      endpointer,
      language,
      applyTransforms,
      speakers: sessionSpeakers,
      emit: (event: ChannelEvent) => this.#events.push(event),
      warn,
      partialIntervalMs,
      onWork,
      log,
      signal,
      namesModels,
    }
    this.#channels = audio.channels.map((path, channel) => {
      const start = snapshot?.channels[channel] ?? {
        endpoint: initialEndpointerState(),
        after: 0,
        lastWord: null,
      }
      const order = sessionSpeakers ? sharedOrder : createFinalOrder()
      return new ChannelRecognizer({ ...shared, channel, path, order }, start)
    })
    this.#vadFrame = snapshot?.position ?? 0
    this.#snapshotAt = this.#vadFrame
    this.#workSeconds = snapshot?.work ?? 0
    this.#pendingFinals = snapshot?.ended ?? []
    this.#speechLoad = new SpeechLoad({ channels })
  }

  /** The load of the session on the machine now: 1 = continuous speech with partials. */
  get load(): number {
    const { wantsPartials, engine } = this.#options
    return this.#speechLoad.weight * (wantsPartials() ? 1 : engine.weightWithoutPartials)
  }

  /** Seconds of audio processed. */
  get recognizedSeconds(): number {
    return this.#vadFrame * FRAME_SECONDS
  }

  /** Seconds of processing time. */
  get workSeconds(): number {
    return this.#workSeconds
  }

  /** Reports how many frames of audio are available, in the session's own format. */
  setAvailable(frames: number): void {
    this.#availableFrames = frames
    this.#wake?.()
  }

  /** Reports that no more audio follows. */
  end(): void {
    this.#isEnd = true
    this.#wake?.()
  }

  /**
   * Recognizes the audio to its end, and yields the events; returns after the last final. Throws
   * when the engine is lost.
   */
  async *run(): AsyncGenerator<RecognitionEvent> {
    this.#recognize().then(
      () => this.#events.end(),
      (error) => this.#events.fail(error),
    )
    yield* this.#events.read()
  }

  async #recognize(): Promise<void> {
    for (const warning of this.#options.selection.warnings) this.#options.warn(warning)
    await this.#restoreSamples()
    for (const ended of this.#pendingFinals) this.#channels[ended.channel]!.resume(ended)
    for (;;) {
      const isLast = this.#isEnd
      const frames = this.#availableFrames
      const hasFrame = isLast || this.#unprocessedSeconds() >= FRAME_SECONDS
      const recognizedFrames = hasFrame ? await this.#advance({ frames, isEnd: isLast }) : 0
      if (recognizedFrames === 0 && isLast) break
      if (recognizedFrames === 0) await this.#waitForAudio(frames)
    }
    const isLowPriority = this.#isLowPriority()
    for (const channel of this.#channels) channel.finish({ isLowPriority })
    for (const channel of this.#channels) await channel.waitForFinals({ all: true })
  }

  /**
   * Rewrites the samples that are still to be recognized, but lie before the position where
   * processing resumes: unlike the audio, samples are never synced, and a power failure may have
   * erased them.
   */
  async #restoreSamples(): Promise<void> {
    const waiting = this.#pendingFinals.map(({ context }) => context.start)
    const open = this.#channels.map((channel) => channel.firstNeeded)
    const from = Math.floor(Math.min(...waiting, ...open) / VAD_FRAME)
    const { signal } = this.#options
    const span = { to: this.#vadFrame, signal }
    const at = await this.#writeSamples({ ...span, from, isEnd: false })
    // The audio has ended, and its last samples may be less than a frame.
    if (at < this.#vadFrame) await this.#writeSamples({ ...span, from: at, isEnd: true })
  }

  /** Rewrites all samples up to the current position, for a second pass at the end. */
  async restoreAllSamples(signal: AbortSignal): Promise<void> {
    await this.#writeSamples({ from: 0, to: Number.POSITIVE_INFINITY, isEnd: true, signal })
  }

  /**
   * Rewrites the samples of a range of frames, as far as its audio exists; returns the frame after
   * the last.
   */
  async #writeSamples({ from, to, isEnd, signal }: FrameRange): Promise<number> {
    const { engine, audio, log } = this.#options
    let at = from
    while (at < to) {
      const request = { from: at, frames: this.#availableFrames, isEnd }
      const { levels } = await retryEngineCall(
        () => engine.detectSpeech(audio, request, { signal }),
        { signal, log },
      )
      if (levels[0]!.length === 0) break
      at += levels[0]!.length
    }
    return at
  }

  /**
   * Runs the VAD on the next span of all channels, and resolves to its number of VAD frames: 0 when
   * there is too little audio for a frame.
   */
  async #advance(available: { frames: number; isEnd: boolean }): Promise<number> {
    const { engine, audio, log, signal, endpointing } = this.#options
    const request = { from: this.#vadFrame, ...available }
    const isLowPriority = this.#isLowPriority()
    const startedAt = performance.now()
    const { probabilities, levels } = await retryEngineCall(
      () => engine.detectSpeech(audio, request, { signal, isLowPriority }),
      { signal, log },
    )
    const frames = probabilities[0]!.length
    if (frames === 0) return 0
    this.#workSeconds += secondsSince(startedAt)
    this.#pace.processed(frames * FRAME_SECONDS)
    for (let frame = 0; frame < frames; frame++) {
      for (const [i, channel] of this.#channels.entries()) {
        channel.advance(probabilities[i]![frame]!, levels[i]![frame]!, { isLowPriority })
      }
      this.#vadFrame++
      if (frame + 1 === frames || frame % PARTIAL_FRAMES === PARTIAL_FRAMES - 1) {
        await this.#startPartials()
      }
    }
    this.#speechLoad.recognized(FRAME_SECONDS * countVoiced(probabilities, endpointing.threshold))
    this.#events.push({ type: 'progress' })
    if (this.#vadFrame - this.#snapshotAt >= SNAPSHOT_FRAMES) this.#takeSnapshot()
    for (const channel of this.#channels) await channel.waitForFinals()
    return frames
  }

  /**
   * Starts the partials that are due. Waits for them, briefly, only when more audio has already
   * arrived.
   */
  async #startPartials(): Promise<void> {
    if (!this.#options.wantsPartials()) return
    const isLowPriority = this.#isLowPriority()
    const partials = Promise.all(
      this.#channels.map((channel) => channel.partial({ isLowPriority })),
    )
    if (this.#unprocessedSeconds() <= PARTIAL_WAIT_SECONDS) return
    const timeout = Promise.withResolvers<void>()
    const timer = setTimeout(timeout.resolve, PARTIAL_TIMEOUT_MS)
    await Promise.race([partials, timeout.promise])
    clearTimeout(timer)
  }

  #isLowPriority(): boolean {
    if (this.#unprocessedSeconds() > BEHIND_SECONDS || this.#pace.isFast) return true
    return this.#options.isOverFairShare?.() ?? false
  }

  /** Returns the seconds of audio that are not processed yet. */
  #unprocessedSeconds(): number {
    return this.#availableFrames / this.#options.audio.format.sampleRate - this.recognizedSeconds
  }

  #takeSnapshot(): void {
    this.#snapshotAt = this.#vadFrame
    const snapshot = {
      position: this.#vadFrame,
      channels: this.#channels.map(({ state }) => state),
      ended: this.#ended(),
      ...(this.#speakers && { speakers: this.#speakers.state }),
      language: this.#options.language.decided,
      work: this.#workSeconds,
    }
    this.#events.push({ type: 'snapshot', snapshot })
  }

  /**
   * Returns the utterances whose final is not emitted yet, in the order in which they are emitted.
   */
  #ended(): PendingUtterance[] {
    const ended = this.#channels.flatMap((channel) => channel.ended)
    return ended.sort((a, b) => a.sequence - b.sequence).map(({ utterance }) => utterance)
  }

  /** Resolves when there are more frames of audio than `frames`, or when no more follow. */
  async #waitForAudio(frames: number): Promise<void> {
    const { signal } = this.#options
    while (!this.#isEnd && this.#availableFrames <= frames && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    signal.throwIfAborted()
  }
}

/** Counts the voiced frames of all channels. */
function countVoiced(probabilities: readonly Float32Array[], threshold: number): number {
  let voiced = 0
  for (const channel of probabilities) {
    for (const probability of channel) if (probability >= threshold) voiced++
  }
  return voiced
}
