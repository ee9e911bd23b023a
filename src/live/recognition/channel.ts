import type { SessionSpeakers } from '../../asr/live/session-speakers.ts'
import type { Final, LiveRecognizer } from '../../asr/live-recognizer.ts'
import type { Log } from '../../log.ts'
import type { SessionText } from '../../text/live/live-text.ts'
import type { Word } from '../../transcript/transcript.ts'
import { type UtteranceView, viewUtterance } from '../messages/utterance-view.ts'
import type { ChannelState, EndedUtterance } from '../recovery/session-log.ts'
import { isAlone, type LastWord, startAfter, withoutRepeat } from './adjacent-utterances.ts'
import {
  type createEndpointer,
  type EndpointEvent,
  type EndpointState,
  frameTime,
  segmentsOf,
  type UtteranceSegments,
  type UtteranceSpan,
} from './endpointing.ts'
import { retryEngineCall } from './retry-engine-call.ts'
import type { SessionLanguage } from './session-language.ts'

/** What is heard on a channel, in the order in which it is to be told. */
export type ChannelEvent =
  | { type: 'speech_start'; time: number; channel: number }
  | { type: 'speech_end'; time: number; channel: number }
  | { type: 'partial'; channel: number; number: number; view: UtteranceView; begunAt?: number }
  | RecognizedFinal

/**
 * `error` says that the utterance could not be recognised; `endedAt` is when its end was known, by the
 * clock of this process.
 */
export type RecognizedFinal = {
  type: 'final'
  channel: number
  number: number
  view: UtteranceView
  error?: unknown
  endedAt?: number | undefined
}

/**
 * The order in which finals are told: that in which their utterances ended. Each channel has one of its own, or the
 * session one for all: what a final tells of its speaker depends on all that were told before.
 */
export type FinalOrder = { last: Promise<void>; begun: number }

/** An order in which nothing is told yet. */
export function createFinalOrder(): FinalOrder {
  return { last: Promise.resolve(), begun: 0 }
}

/** An utterance whose final text is not told yet, and its place in the order of `Telling`. */
export type AwaitedUtterance = { place: number; utterance: EndedUtterance }

/** What a channel is made from. */
export type ChannelOptions = {
  channel: number
  /** Its samples. */
  path: string
  ears: LiveRecognizer
  endpointer: ReturnType<typeof createEndpointer>
  language: SessionLanguage
  /** Writes words as the customer does. */
  change: SessionText['change']
  telling: FinalOrder
  /** Tells who speaks, if that was asked for; then `telling` must be one for all channels. */
  voices?: SessionSpeakers | undefined
  partialIntervalMs: number
  tell(event: ChannelEvent): void
  /** Called with the seconds that a recognition took. */
  onWork(seconds: number): void
  log: Log
  signal: AbortSignal
}

/** Before so much of it was spoken, nothing useful is recognised of an utterance. */
const FIRST_PARTIAL_FRAMES = 8
/** An utterance is decoded again at most a third of the time: partials must not hold up finals. */
const PARTIAL_SHARE = 3
/** A first word begins at most so long before the first frame with voice: the model puts silence into it. */
const LEAD_SECONDS = 0.1
/** More finals than this are not waited for at a time: sound is heard faster than it is recognised. */
const MAX_ENDED = 8
/** A final that failed so often is asked for without its voice: that may be the cause of it. */
const VOICE_ATTEMPTS = 2

type Early = { span: UtteranceSpan; final: Promise<Final>; stop: AbortController }
type LastPartial = { number: number; text: string; draft: readonly number[]; voice: number }

/**
 * One channel of a session: its endpointer, the partials of the utterance that is open, and the finals
 * of those that have ended, which are told in order. The final of an utterance is begun as soon as it
 * may have ended, and is there, more often than not, when silence has lasted long enough.
 */
export class Channel {
  readonly #options: ChannelOptions
  readonly #endpoint: EndpointState
  /** First sample that no utterance took. */
  #after: number
  #ended: AwaitedUtterance[] = []
  /** The last word of the utterances that have ended, and of those that were told. */
  #lastSpoken: Promise<LastWord | null>
  #lastTold: LastWord | null
  #early: Early | undefined
  #partial: AbortController | undefined
  #last: LastPartial | undefined
  #nextPartialAt = 0

  constructor(options: ChannelOptions, from: ChannelState) {
    this.#options = options
    this.#endpoint = from.endpoint
    this.#after = from.after
    this.#lastTold = from.lastWord
    this.#lastSpoken = Promise.resolve(from.lastWord)
  }

  /** Plain data from which a channel goes on. */
  get state(): ChannelState {
    const [endpoint, after, lastWord] = [this.#endpoint, this.#after, this.#lastTold]
    return { endpoint: { ...endpoint, recent: [...endpoint.recent] }, after, lastWord }
  }

  /** First sample that is needed for the utterance that is open, or that comes next. */
  get firstNeeded(): number {
    const { number, from, frame } = this.#endpoint
    return this.#piecesOf({ number, from: from ?? frame, to: frame }).context.start
  }

  /** Utterances whose final text is not told yet. */
  get ended(): readonly AwaitedUtterance[] {
    return this.#ended
  }

  /** Takes the probability of speech and the loudness of the next frame. */
  hear(probability: number, level: number, { isBehind }: { isBehind: boolean }): void {
    for (const event of this.#options.endpointer.step(this.#endpoint, probability, level)) {
      this.#handle(event, isBehind)
    }
    if (this.#early && this.#endpoint.lastVoice > this.#early.span.to) {
      this.#early.stop.abort() // Speech goes on.
      this.#early = undefined
    }
  }

  /** The sound has ended. */
  finish(): void {
    for (const event of this.#options.endpointer.finish(this.#endpoint)) this.#handle(event, true)
  }

  /** Recognises an utterance that had ended before. */
  resume(ended: EndedUtterance): void {
    this.#recognize(ended, { final: this.#final(ended, { isBehind: true }) })
  }

  /** Resolves when not too many finals are under way, or, with `all`, none. */
  async caughtUp({ all = false } = {}): Promise<void> {
    if (all || this.#ended.length > MAX_ENDED) await this.#options.telling.last
  }

  /**
   * Begins to recognise what there is of the open utterance, if there is one with new voice, nothing is
   * under way and it is time; resolves when that is done.
   */
  async partial({ isBehind }: { isBehind: boolean }): Promise<void> {
    const { phase, from, frame, number, lastVoice } = this.#endpoint
    const last = this.#last?.number === number ? this.#last : undefined
    if (phase !== 'speaking' || from === null || frame - from < FIRST_PARTIAL_FRAMES) return
    if (this.#partial || this.#ended.length > 0 || last?.voice === lastVoice) return
    const began = performance.now()
    if (began < this.#nextPartialAt) return
    const stop = new AbortController()
    this.#partial = stop
    try {
      const { ears, language, change, channel, signal, partialIntervalMs, tell } = this.#options
      const { segment } = this.#piecesOf({ number, from, to: frame })
      const utterance = { path: this.#options.path, segment }
      const heard = await ears.recognizePartial(utterance, {
        signal: AbortSignal.any([signal, stop.signal]),
        isBehind,
        language: language.current,
        draft: last?.draft,
        isFirst: !last?.text,
      })
      const now = performance.now()
      this.#options.onWork((now - began) / 1000)
      this.#nextPartialAt = Math.max(this.#nextPartialAt, began + PARTIAL_SHARE * (now - began))
      if (stop.signal.aborted) return
      const span = { start: frameTime(from), end: frameTime(frame) }
      const spoken = {
        channel,
        language: heard.language,
        words: beginAfter(heard.words, span.start - LEAD_SECONDS),
      }
      const changing = AbortSignal.any([signal, stop.signal])
      const words = await change(spoken, { signal: changing, isPartial: true })
      if (stop.signal.aborted) return
      const view = viewUtterance(words, { channel, language: heard.language, span })
      this.#last = { number, text: view.text, draft: heard.draft, voice: lastVoice }
      if (view.words.length === 0 || view.text === last?.text) return
      this.#nextPartialAt = Math.max(this.#nextPartialAt, now + partialIntervalMs)
      tell({ type: 'partial', channel, number, view, begunAt: began })
    } catch (error) {
      if (!stop.signal.aborted && !this.#options.signal.aborted) {
        this.#options.log.warn({ err: error }, 'partial transcript failed')
      }
    } finally {
      if (this.#partial === stop) this.#partial = undefined
    }
  }

  #handle(event: EndpointEvent, isBehind: boolean): void {
    const { channel, tell } = this.#options
    switch (event.type) {
      case 'speech_start':
      case 'speech_end':
        tell({ type: event.type, time: frameTime(event.frame), channel })
        break
      case 'pause':
        if (!isBehind) this.#beginEarly(event.utterance)
        break
      case 'utterance':
        this.#end(event.utterance, isBehind)
    }
  }

  #beginEarly(span: UtteranceSpan): void {
    this.#early?.stop.abort()
    const stop = new AbortController()
    const ended = this.#endedOf(span)
    const final = this.#final(ended, { isBehind: false, stop })
    final.catch(() => {}) // Whoever uses it sees the error.
    this.#early = { span, final, stop }
  }

  #end(span: UtteranceSpan, isBehind: boolean): void {
    this.#partial?.abort()
    this.#partial = undefined
    const early = this.#early
    this.#early = undefined
    const isSame = early && early.span.number === span.number && early.span.to === span.to
    if (!isSame) early?.stop.abort()
    const ended = this.#endedOf(span)
    this.#after = ended.segment.end
    const final = isSame ? early.final : this.#final(ended, { isBehind })
    this.#recognize(ended, { final, endedAt: performance.now() })
  }

  #endedOf(span: UtteranceSpan): EndedUtterance {
    return { channel: this.#options.channel, span, ...this.#piecesOf(span) }
  }

  #piecesOf(span: UtteranceSpan): UtteranceSegments {
    return segmentsOf(span, { state: this.#endpoint, after: this.#after })
  }

  /** Tells the final text after those of the utterances before. */
  #recognize(
    ended: EndedUtterance,
    { final, endedAt }: { final: Promise<Final>; endedAt?: number },
  ): void {
    const { channel, tell, language, change, telling, voices, signal } = this.#options
    const { number, from, to } = ended.span
    this.#ended.push({ place: telling.begun++, utterance: ended })
    const before = this.#lastSpoken
    this.#lastSpoken = final.then(
      ({ words }) => lastOf(words) ?? before,
      () => before,
    )
    telling.last = telling.last.then(async () => {
      const span = { start: frameTime(from), end: frameTime(to) }
      try {
        const { words: rough, language: heard, voice } = await final
        const words = isAlone(ended)
          ? beginAfter(rough, span.start - LEAD_SECONDS)
          : withoutRepeat(rough, this.#lastTold)
        const written =
          words.length > 0 ? await change({ channel, language: heard, words }, { signal }) : []
        // All at once, and as it was heard: from here on, what comes next depends on it.
        this.#lastTold = lastOf(words) ?? this.#lastTold
        if (words.length > 0) language.heard(heard)
        const spoken = words.length > 0 ? heard : language.fallback
        const speaker = words.length > 0 ? voices?.speakerOf(channel, voice) : undefined
        const view = viewUtterance(written, { channel, language: spoken, span, speaker })
        this.#ended.shift()
        tell({ type: 'final', channel, number, view, endedAt })
      } catch (error) {
        if (signal.aborted) return
        const view = viewUtterance([], { channel, language: language.fallback, span })
        this.#ended.shift()
        tell({ type: 'final', channel, number, view, error, endedAt })
      }
    })
  }

  async #final(
    ended: EndedUtterance,
    { isBehind, stop }: { isBehind: boolean; stop?: AbortController },
  ): Promise<Final> {
    const { ears, voices, log, onWork } = this.#options
    const signals = [this.#options.signal, ...(stop ? [stop.signal] : [])]
    const signal = AbortSignal.any(signals)
    const { context } = ended
    const segment = isAlone(ended) ? ended.segment : startAfter(ended, await this.#lastSpoken)
    const utterance = { path: this.#options.path, segment, context }
    const began = performance.now()
    let attempts = 0
    const final = await retryEngineCall(
      () => {
        const wantsSpeaker = voices !== undefined && attempts++ < VOICE_ATTEMPTS
        const language = this.#options.language.current
        return ears.recognizeFinal(utterance, { signal, isBehind, language, wantsSpeaker })
      },
      { signal, log },
    )
    onWork((performance.now() - began) / 1000)
    const { speakerError } = final
    if (speakerError !== undefined) log.warn({ speakerError }, 'a voice could not be heard')
    return final
  }
}

/** Moves the start of words that begin before `earliest` and reach beyond it. */
function beginAfter(words: readonly Word[], earliest: number): readonly Word[] {
  return words.map((word) => {
    return word.start < earliest && word.end > earliest ? { ...word, start: earliest } : word
  })
}

function lastOf(words: readonly Word[]): LastWord | undefined {
  const last = words.at(-1)
  return last && { text: last.text, end: last.end }
}
