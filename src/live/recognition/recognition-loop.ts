import { createSessionSpeakers, type SessionSpeakers } from '../../asr/live/session-speakers.ts'
import type { LiveAudio, LiveRecognizer } from '../../asr/live-recognizer.ts'
import { FRAME_SAMPLES } from '../../asr/live-recognizer.ts'
import { SAMPLE_RATE, type SpeakerCounts } from '../../asr/speech-engine.ts'
import type { Log } from '../../log.ts'
import type { SessionText } from '../../text/live/live-text.ts'
import type { EndedUtterance, Snapshot } from '../recovery/session-log.ts'
import { Channel, type ChannelEvent, createFinalOrder } from './channel.ts'
import { createEndpointer, type EndpointingOptions, initialEndpoint } from './endpointing.ts'
import { retryEngineCall } from './retry-engine-call.ts'
import type { SessionLanguage } from './session-language.ts'
import { VoicedShare } from './voiced-share.ts'

/** What listens to a session. */
export type RecognitionLoopOptions = {
  ears: LiveRecognizer
  sound: LiveAudio
  endpointing: EndpointingOptions
  language: SessionLanguage
  change: SessionText['change']
  /** Who speaks is to be told, and how many there are said to be. */
  speakers?: SpeakerCounts | undefined
  partialIntervalMs: number
  tell(event: ChannelEvent): void
  /** Whether the work of others goes first: the account has more than its share. */
  isOverShare?: (() => boolean) | undefined
  /** Whether anybody wants partials now. */
  wantsPartials(): boolean
  /** Called after each stretch. */
  onHeard(): void
  /** Called from time to time, after everything before was told. */
  onSnapshot(snapshot: Snapshot): void
  log: Log
  signal: AbortSignal
}

/** With more sound than this waiting to be heard, a session is behind. */
const BEHIND_SECONDS = 2
/** After so many frames (5 s) the place is noted at which a session can be taken up again. */
const SNAPSHOT_FRAMES = 156
/** Partials are thought of after so many frames (0.5 s), however much sound came at once. */
const PARTIAL_FRAMES = 16
/** With more sound than this ahead, partials are waited for, or the utterance would be over before them. */
const AHEAD_SECONDS = 0.5
/** So long: a machine that has time makes a partial in less. */
const TIMEOUT_MS = 300
const FRAME_SECONDS = FRAME_SAMPLES / SAMPLE_RATE

/** Frames of sound; `isEnd`: no more will come. */
type Stretch = { from: number; to: number; isEnd: boolean; signal: AbortSignal }

/**
 * Hears the sound of a session as it grows: where there is speech on each channel, and what is said. All
 * channels go side by side, frame by frame, so that where it stands is one number.
 */
export class RecognitionLoop {
  readonly #options: RecognitionLoopOptions
  readonly #channels: Channel[]
  readonly #voices: SessionSpeakers | undefined
  readonly #earlier: readonly EndedUtterance[]
  /** Frames heard, of 32 ms; and frames of the session's own format that are there to be heard. */
  #position: number
  #snapshotAt: number
  #frames = 0
  #isEnd = false
  #work: number
  #wake: (() => void) | undefined
  readonly #voicing: VoicedShare

  constructor(options: RecognitionLoopOptions, from?: Snapshot) {
    this.#options = options
    const { ears, sound, language, change, speakers, log, signal, tell, partialIntervalMs } =
      options
    // One for the whole session: one for each wait would be a hundred thousand.
    signal.addEventListener('abort', () => this.#wake?.(), { once: true })
    const onWork = (seconds: number) => {
      this.#work += seconds
    }
    const endpointer = createEndpointer(options.endpointing)
    const channels = sound.channels.length
    const voices = speakers && createSessionSpeakers({ channels, counts: speakers }, from?.voices)
    this.#voices = voices
    const one = createFinalOrder()
    const shared = {
      ...{ ears, endpointer, language, change, voices, partialIntervalMs },
      ...{ tell, onWork, log, signal },
    }
    this.#channels = sound.channels.map((path, channel) => {
      const start = from?.channels[channel] ?? {
        endpoint: initialEndpoint(),
        after: 0,
        lastWord: null,
      }
      const telling = voices ? one : createFinalOrder()
      return new Channel({ ...shared, channel, path, telling }, start)
    })
    this.#position = from?.position ?? 0
    this.#snapshotAt = this.#position
    this.#work = from?.work ?? 0
    this.#earlier = from?.ended ?? []
    this.#voicing = new VoicedShare({ channels })
  }

  /** What the session takes of the machine now: 1 = it speaks all the time. */
  get weight(): number {
    return this.#voicing.weight
  }

  /** Seconds that were heard. */
  get heard(): number {
    return this.#position * FRAME_SECONDS
  }

  /** Seconds of work. */
  get work(): number {
    return this.#work
  }

  /** There are so many frames of sound, in the session's own format. */
  grown(frames: number): void {
    this.#frames = frames
    this.#wake?.()
  }

  /** No more sound will come. */
  end(): void {
    this.#isEnd = true
    this.#wake?.()
  }

  /** Hears until the end, and resolves when the last final is told; rejects when the engine is lost. */
  async run(): Promise<void> {
    await this.#restoreSamples()
    for (const ended of this.#earlier) this.#channels[ended.channel]!.resume(ended)
    for (;;) {
      const isLast = this.#isEnd
      const there = this.#frames
      const heard = await this.#listen({ frames: there, isEnd: isLast })
      if (heard === 0 && isLast) break
      if (heard === 0) await this.#moreSound(there)
    }
    for (const channel of this.#channels) channel.finish()
    for (const channel of this.#channels) await channel.caughtUp({ all: true })
  }

  /**
   * Has the samples written again that are still to be recognised but lie before the place where hearing
   * goes on: unlike the sound, they are never synced, and a loss of power may have taken them.
   */
  async #restoreSamples(): Promise<void> {
    const waiting = this.#earlier.map(({ context }) => context.start)
    const open = this.#channels.map((channel) => channel.firstNeeded)
    const from = Math.floor(Math.min(...waiting, ...open) / FRAME_SAMPLES)
    const { signal } = this.#options
    await this.#writeSamples({ from, to: this.#position, isEnd: false, signal })
  }

  /** Has all samples written again that were heard, for what is to be heard once more at the end. */
  restoreAllSamples(signal: AbortSignal): Promise<void> {
    return this.#writeSamples({ from: 0, to: Number.POSITIVE_INFINITY, isEnd: true, signal })
  }

  /** Has the samples of some frames written again, as far as there are any. */
  async #writeSamples({ from, to, isEnd, signal }: Stretch): Promise<void> {
    const { ears, sound, log } = this.#options
    for (let at = from; at < to; ) {
      const request = { from: at, frames: this.#frames, isEnd }
      const { levels } = await retryEngineCall(() => ears.listen(sound, request, { signal }), {
        signal,
        log,
      })
      if (levels[0]!.length === 0) return
      at += levels[0]!.length
    }
  }

  /** Hears the next stretch of all channels, and resolves to its frames: 0 when there is no sound for one. */
  async #listen(there: { frames: number; isEnd: boolean }): Promise<number> {
    const { ears, sound, log, signal, endpointing } = this.#options
    const request = { from: this.#position, ...there }
    const isBehind = this.#isBehind()
    const began = performance.now()
    const { probabilities, levels } = await retryEngineCall(
      () => ears.listen(sound, request, { signal, isBehind }),
      { signal, log },
    )
    const frames = probabilities[0]!.length
    if (frames === 0) return 0
    this.#work += (performance.now() - began) / 1000
    for (let frame = 0; frame < frames; frame++) {
      for (const [i, channel] of this.#channels.entries()) {
        channel.hear(probabilities[i]![frame]!, levels[i]![frame]!, { isBehind })
      }
      this.#position++
      if (frame + 1 === frames || frame % PARTIAL_FRAMES === PARTIAL_FRAMES - 1) {
        await this.#partials()
      }
    }
    this.#voicing.heard(FRAME_SECONDS * countVoiced(probabilities, endpointing.threshold))
    this.#options.onHeard()
    if (this.#position - this.#snapshotAt >= SNAPSHOT_FRAMES) this.#takeSnapshot()
    for (const channel of this.#channels) await channel.caughtUp()
    return frames
  }

  /** Begins the partials that are due; they are waited for a moment only when more sound is there already. */
  async #partials(): Promise<void> {
    if (!this.#options.wantsPartials()) return
    const isBehind = this.#isBehind()
    const made = Promise.all(this.#channels.map((channel) => channel.partial({ isBehind })))
    if (this.#ahead() <= AHEAD_SECONDS) return
    const timeout = Promise.withResolvers<void>()
    const timer = setTimeout(timeout.resolve, TIMEOUT_MS)
    await Promise.race([made, timeout.promise])
    clearTimeout(timer)
  }

  #isBehind(): boolean {
    return this.#ahead() > BEHIND_SECONDS || (this.#options.isOverShare?.() ?? false)
  }

  /** Seconds of sound that were not heard yet. */
  #ahead(): number {
    return this.#frames / this.#options.sound.format.sampleRate - this.heard
  }

  #takeSnapshot(): void {
    this.#snapshotAt = this.#position
    this.#options.onSnapshot({
      position: this.#position,
      channels: this.#channels.map(({ state }) => state),
      ended: this.#ended(),
      ...(this.#voices && { voices: this.#voices.state }),
      language: this.#options.language.decided,
      work: this.#work,
    })
  }

  /** Utterances whose final is not told yet, in the order in which they are told. */
  #ended(): EndedUtterance[] {
    const ended = this.#channels.flatMap((channel) => channel.ended)
    return ended.sort((a, b) => a.place - b.place).map(({ utterance }) => utterance)
  }

  /** Resolves when there are more frames of sound than `seen`, or when no more will come. */
  async #moreSound(seen: number): Promise<void> {
    const { signal } = this.#options
    while (!this.#isEnd && this.#frames <= seen && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
    signal.throwIfAborted()
  }
}

/** Frames in which somebody speaks, of all channels. */
function countVoiced(probabilities: readonly Float32Array[], threshold: number): number {
  let voiced = 0
  for (const channel of probabilities) {
    for (const probability of channel) if (probability >= threshold) voiced++
  }
  return voiced
}
