import type { DraftText } from '../../asr/engines/recognizer.ts'
import type { FinalResult } from '../../asr/live-engine/live-engine.ts'
import { settingsFor } from '../../asr/model-selection/select-models.ts'
import { secondsSince } from '../../clock.ts'
import type { Word } from '../../transcript/transcript.ts'
import { type UtteranceView, viewLiveUtterance } from '../../transcript/utterance-view.ts'
import type { ChannelState, PendingUtterance } from '../journal/log-records.ts'
import type { ChannelOptions } from './channel-options.ts'
import {
  alignToPrevious,
  contextText,
  type LastWord,
  lastWordOf,
  MAX_LEAD,
  sharesContext,
  startsAfterPause,
  withoutOverlap,
  withoutPrevious,
} from './endpointing/adjacent-utterances.ts'
import type { EndpointerEvent, EndpointerState, UtteranceSpan } from './endpointing/endpointer.ts'
import {
  firstNeededSample,
  frameTime,
  segmentsOf,
  type UtteranceSegments,
} from './endpointing/utterance-segments.ts'
import type { RecognizedFinal } from './events/channel-events.ts'
import { allowsSpeculativeFinals } from './load/load-shedding.ts'
import { PartialSchedule } from './load/partial-schedule.ts'
import { type SettledWords, settleWords, windowOf } from './partial-window.ts'
import { PrecedingFinals } from './preceding-finals.ts'
import { retryEngineCall } from './retry-engine-call.ts'

/** An utterance whose final is pending, and its number in the `FinalOrder`. */
export type OrderedUtterance = { sequence: number; utterance: PendingUtterance }

/** With more pending finals, the channel waits, because VAD is faster than recognition. */
const MAX_PENDING_FINALS = 8
/** After this many failures, a final is requested without its embedding, a possible cause. */
const EMBEDDING_ATTEMPTS = 2

type SpeculativeFinal = { span: UtteranceSpan; final: Promise<FinalResult>; stop: AbortController }
/** In seconds. */
type TimeSpan = { start: number; end: number }
/** The words of a final, as recognized and after the user's text settings. */
type FinalWords = { words: readonly Word[]; transformedWords: readonly Word[]; span: TimeSpan }
type LastPartial = {
  number: number
  text: string
  draft: DraftText
  lastSpeech: number
  settled: SettledWords | undefined
}

/**
 * One channel of a session: its endpointer, the partials of the open utterance, and the finals of
 * those that have ended, which are emitted in order. Recognition of a final starts as soon as its
 * utterance may have ended, and is usually done by the time silence has lasted long enough.
 */
export class ChannelRecognizer {
  readonly #options: ChannelOptions
  readonly #endpointer: EndpointerState
  /** The first sample that belongs to no utterance yet. */
  #lastEnd: number
  #pendingUtterances: OrderedUtterance[] = []
  /** The finals of the ended utterances, emitted or not. */
  readonly #preceding: PrecedingFinals
  /** The last word of the emitted utterances. */
  #lastEmittedWord: LastWord | null
  /** The language of the last emitted utterance with words. */
  #emittedLanguage: string | null
  #speculative: SpeculativeFinal | undefined
  #partial: AbortController | undefined
  #lastPartial: LastPartial | undefined
  readonly #partialSchedule: PartialSchedule

  constructor(options: ChannelOptions, from: ChannelState) {
    this.#options = options
    this.#endpointer = from.endpoint
    this.#partialSchedule = new PartialSchedule(options.partialIntervalMs)
    this.#lastEnd = from.after
    this.#lastEmittedWord = from.lastWord
    this.#emittedLanguage = from.language ?? null
    this.#preceding = new PrecedingFinals({
      lastWord: this.#lastEmittedWord,
      language: this.#emittedLanguage,
    })
  }

  /** Returns plain data from which a channel can resume. */
  get state(): ChannelState {
    const endpoint = { ...this.#endpointer, recent: [...this.#endpointer.recent] }
    const [after, lastWord, language] = [
      this.#lastEnd,
      this.#lastEmittedWord,
      this.#emittedLanguage,
    ]
    return { endpoint, after, lastWord, ...(language !== null && { language }) }
  }

  /** The first sample that the open utterance, or the next one, needs. */
  get firstNeeded(): number {
    return firstNeededSample(this.#endpointer, this.#lastEnd)
  }

  /** The utterances whose final is not emitted yet. */
  get ended(): readonly OrderedUtterance[] {
    return this.#pendingUtterances
  }

  /** Processes the speech probability and the level of the next frame. */
  advance(probability: number, level: number, { isLowPriority }: { isLowPriority: boolean }): void {
    for (const event of this.#options.endpointer.step(this.#endpointer, probability, level)) {
      this.#handle(event, isLowPriority)
    }
    if (this.#speculative && this.#endpointer.lastSpeech > this.#speculative.span.to) {
      this.#speculative.stop.abort() // Speech continues.
      this.#speculative = undefined
    }
  }

  /** Ends the channel: no more audio follows. */
  finish({ isLowPriority }: { isLowPriority: boolean }): void {
    const events = this.#options.endpointer.finish(this.#endpointer)
    for (const event of events) this.#handle(event, isLowPriority)
  }

  /** Recognizes an utterance that ended before the restart. */
  resume(ended: PendingUtterance): void {
    this.#emitFinal(ended, { final: this.#requestFinal(ended, { isLowPriority: true }) })
  }

  /** Resolves when few enough finals are pending or, with `all`, none. */
  async waitForFinals({ all = false } = {}): Promise<void> {
    if (all || this.#pendingUtterances.length > MAX_PENDING_FINALS) await this.#options.order.tail
  }

  /**
   * Recognizes a partial of the open utterance, if it has new speech, no partial is running and one
   * is due; resolves when that is done. It is emitted after the finals of earlier utterances, but
   * recognized in parallel with them: a first partial is worth little when it is late.
   */
  async partial({ isLowPriority }: { isLowPriority: boolean }): Promise<void> {
    const { phase, from, frame, lastSpeech } = this.#endpointer
    if (phase !== 'speaking' || from === null) return
    if (this.#partial || this.#partialBefore?.lastSpeech === lastSpeech) return
    if (isLowPriority && this.#pendingUtterances.length > 0) return
    if (!this.#partialSchedule.isDue(performance.now(), { frames: frame - from })) return
    const stop = new AbortController()
    this.#partial = stop
    try {
      await this.#recognizePartial(from, { isLowPriority, stop: stop.signal })
    } catch (error) {
      if (!stop.signal.aborted && !this.#options.signal.aborted) {
        this.#options.log.warn({ err: error }, 'cannot recognize a partial transcript')
      }
    } finally {
      if (this.#partial === stop) this.#partial = undefined
    }
  }

  /** The last partial of the open utterance. */
  get #partialBefore(): LastPartial | undefined {
    return this.#lastPartial?.number === this.#endpointer.number ? this.#lastPartial : undefined
  }

  async #recognizePartial(
    from: number,
    { isLowPriority, stop }: { isLowPriority: boolean; stop: AbortSignal },
  ): Promise<void> {
    const { channel, path, engine, selection, language, applyTransforms } = this.#options
    const { frame, number, lastSpeech, pauses } = this.#endpointer
    const before = this.#partialBefore
    const startedAt = performance.now()
    const signal = AbortSignal.any([this.#options.signal, stop])
    const segments = this.#segmentsOf({ number, from, to: frame })
    // Before the previous final is emitted, it is unknown where its last word ends.
    const isKnown = this.#pendingUtterances.length === 0 && !startsAfterPause(segments)
    const segment = isKnown ? alignToPrevious(segments, this.#lastEmittedWord) : segments.segment
    const window = windowOf(segment, before?.settled)
    const recognized = await engine.recognizePartial(
      { path, segment: window },
      {
        signal,
        isLowPriority,
        ...settingsFor(selection, 'partials', language.current ?? this.#recentLanguage),
        draft: before?.draft.tokens,
        isFirst: !before?.text,
      },
    )
    const now = performance.now()
    this.#options.onWork((now - startedAt) / 1000)
    this.#partialSchedule.recognized({ startedAt, now })
    if (stop.aborted) return
    const span = { start: frameTime(from), end: frameTime(frame) }
    const settledWords = before?.settled?.words ?? []
    const newWords = withoutOverlap(recognized.words, lastWordOf(settledWords) ?? null)
    const spoken = { channel, language: recognized.language, words: [...settledWords, ...newWords] }
    const wordBefore = this.#lastEmittedWord?.text
    const words = await applyTransforms(spoken, { signal, isPartial: true, wordBefore })
    if (stop.aborted) return
    const { text } = viewLiveUtterance({ ...spoken, words }, span)
    const settled = settleWords(newWords, { window, pauses, before: before?.settled })
    const tokens = settled === before?.settled ? recognized.draft : []
    const draft = { text: '', model: recognized.model, tokens }
    this.#lastPartial = {
      number,
      text,
      settled,
      draft,
      // A window that ends early leaves speech for the next partial.
      lastSpeech: window.end < segment.end ? -1 : lastSpeech,
    }
    if (text === '' && !before?.text) return // No words yet: the next partial is due at once.
    this.#partialSchedule.foundWords(now, { load: engine.load })
    if (newWords.length === 0 || text === before?.text) return
    while (this.#pendingUtterances.length > 0) await this.#options.order.tail
    if (stop.aborted) return
    const previous = { last: this.#lastEmittedWord, earliest: span.start - MAX_LEAD }
    const ownWords = withoutPrevious(segments, { words }, previous)
    if (ownWords.length === 0) return
    const view = viewLiveUtterance({ ...spoken, words: ownWords }, span)
    this.#options.emit({ type: 'partial', channel, number, view, begunAt: startedAt })
    this.#partialSchedule.sent(performance.now())
  }

  /** The language of the last utterance, whose model is the best guess for the next one. */
  get #recentLanguage(): string | undefined {
    return this.#options.selection.identification && (this.#emittedLanguage ?? undefined)
  }

  #handle(event: EndpointerEvent, isLowPriority: boolean): void {
    const { channel, emit, engine } = this.#options
    switch (event.type) {
      case 'speech_start':
      case 'speech_end':
        emit({ type: event.type, time: frameTime(event.frame), channel })
        break
      case 'pause':
        if (!isLowPriority && allowsSpeculativeFinals(engine.load))
          this.#beginSpeculativeFinal(event.utterance)
        break
      case 'utterance':
        this.#end(event.utterance, isLowPriority)
    }
  }

  #beginSpeculativeFinal(span: UtteranceSpan): void {
    this.#speculative?.stop.abort()
    const stop = new AbortController()
    const ended = this.#endedOf(span)
    const final = this.#requestFinal(ended, { isLowPriority: false, stop })
    final.catch(() => {}) // The consumer of the promise sees the error.
    this.#speculative = { span, final, stop }
  }

  #end(span: UtteranceSpan, isLowPriority: boolean): void {
    this.#partial?.abort()
    this.#partial = undefined
    this.#partialSchedule.utteranceEnded()
    const speculative = this.#speculative
    this.#speculative = undefined
    const isSame =
      speculative && speculative.span.number === span.number && speculative.span.to === span.to
    if (!isSame) speculative?.stop.abort()
    const ended = this.#endedOf(span)
    this.#lastEnd = ended.segment.end
    const final = isSame ? speculative.final : this.#requestFinal(ended, { isLowPriority })
    this.#emitFinal(ended, { final, endedAt: performance.now() })
  }

  #endedOf(span: UtteranceSpan): PendingUtterance {
    return { channel: this.#options.channel, span, ...this.#segmentsOf(span) }
  }

  #segmentsOf(span: UtteranceSpan): UtteranceSegments {
    return segmentsOf(span, { state: this.#endpointer, after: this.#lastEnd })
  }

  /** Emits the final of an utterance after those of the earlier ones. */
  #emitFinal(
    ended: PendingUtterance,
    { final, endedAt }: { final: Promise<FinalResult>; endedAt?: number },
  ): void {
    const { channel, emit, language, order, signal, warn } = this.#options
    const { number, from, to } = ended.span
    this.#pendingUtterances.push({ sequence: order.nextSequence++, utterance: ended })
    this.#preceding.add(final)
    order.tail = order.tail.then(async () => {
      const span = { start: frameTime(from), end: frameTime(to) }
      let outcome: Pick<RecognizedFinal, 'view' | 'error'>
      try {
        const recognized = await final
        for (const warning of recognized.warnings) warn(warning)
        const words = this.#ownWords(ended, recognized, span)
        const transformedWords = await this.#transform(words, recognized)
        // No `await` from here to the end: a snapshot has a final as emitted or as pending.
        outcome = { view: this.#acceptFinal(recognized, { words, transformedWords, span }) }
      } catch (error) {
        if (signal.aborted) return
        const spoken = { channel, language: language.fallback, words: [] }
        outcome = { view: viewLiveUtterance(spoken, span), error }
      }
      this.#pendingUtterances.shift()
      emit({ type: 'final', channel, number, ...outcome, endedAt })
    })
  }

  /** Returns the words of a final without those that the previous utterance said. */
  #ownWords(ended: PendingUtterance, final: FinalResult, { start }: TimeSpan): readonly Word[] {
    const last = this.#lastEmittedWord
    return withoutPrevious(ended, final, { last, earliest: start - MAX_LEAD })
  }

  async #transform(words: readonly Word[], { language }: FinalResult): Promise<readonly Word[]> {
    const { channel, applyTransforms, signal } = this.#options
    if (words.length === 0) return words
    const wordBefore = this.#lastEmittedWord?.text
    return applyTransforms({ channel, language, words }, { signal, wordBefore })
  }

  /**
   * Updates the state that later results depend on, from the recognized words of a final; returns
   * its view.
   */
  #acceptFinal(final: FinalResult, { words, transformedWords, span }: FinalWords): UtteranceView {
    const { channel, language, speakers, namesModels } = this.#options
    const modelFields = namesModels && modelFieldsOf(final)
    if (words.length === 0) {
      const silence = { channel, language: language.fallback, words, ...modelFields }
      return viewLiveUtterance(silence, span)
    }
    this.#lastEmittedWord = lastWordOf(words)!
    language.recognized(final.language, { isUnclear: final.isLanguageUnclear ?? false })
    this.#emittedLanguage = final.language
    const speaker = speakers?.speakerOf(channel, final.speakerEmbedding)
    const utterance = {
      channel,
      language: final.language,
      words: transformedWords,
      ...(speaker !== undefined && { speaker }),
      ...modelFields,
    }
    return viewLiveUtterance(utterance, span)
  }

  async #requestFinal(
    ended: PendingUtterance,
    { isLowPriority, stop }: { isLowPriority: boolean; stop?: AbortController },
  ): Promise<FinalResult> {
    const { engine, selection, speakers, log, onWork } = this.#options
    const { language: languageBefore, clearLanguage } = this.#preceding
    const last = this.#lastPartial?.number === ended.span.number ? this.#lastPartial : undefined
    const signals = [this.#options.signal, ...(stop ? [stop.signal] : [])]
    const signal = AbortSignal.any(signals)
    const { context } = ended
    const wordsBefore = sharesContext(ended) ? await this.#preceding.words : []
    const segment = alignToPrevious(ended, wordsBefore.at(-1) ?? null)
    // Only the final covers the context: its draft starts with the words of the context.
    const partial = last?.settled ? undefined : last?.draft
    const draft = { tokens: [], ...partial, text: contextText(context, wordsBefore) }
    const utterance = { path: this.#options.path, segment, context }
    let attempts = 0
    // The session's language may depend on an earlier utterance that is still being recognized.
    const isDecided = selection.identification?.perUtterance === false
    const decided = isDecided ? ((await clearLanguage) ?? undefined) : undefined
    const startedAt = performance.now()
    const final = await retryEngineCall(
      () => {
        const wantsEmbedding = speakers !== undefined && attempts++ < EMBEDDING_ATTEMPTS
        const current = this.#options.language.current ?? decided
        return engine.recognizeFinal(utterance, {
          signal,
          isLowPriority,
          wantsEmbedding,
          draft,
          ...settingsFor(selection, 'finals', current),
          identification: current === undefined ? selection.identification : undefined,
          languageBefore: () => languageBefore,
        })
      },
      { signal, log },
    )
    onWork(secondsSince(startedAt))
    const { embeddingError } = final
    if (embeddingError !== undefined) log.warn({ embeddingError }, 'speaker embedding failed')
    return final
  }
}

function modelFieldsOf({ model, languageConfidence }: FinalResult) {
  return { model, ...(languageConfidence !== undefined && { languageConfidence }) }
}
