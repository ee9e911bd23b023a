import type { Log } from '../../observability/log.ts'
import { sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import type { UtteranceWithId } from './realtime-add-ons.ts'
import type { ServiceEnvelope, SessionServices } from './session-services.ts'

/** Options of the translations of partials. */
export type PartialTranslationsOptions = {
  services: Pick<SessionServices, 'translatePartial'>
  /** Sends the translation of a partial; called only while its utterance is open. */
  send(partial: UtteranceWithId, envelope: ServiceEnvelope): void
  log: Log
  /** Aborted when the session is suspended. */
  signal: AbortSignal
}

/**
 * Translates the partials of open utterances: one at a time in a session, always the newest text of
 * an utterance. Once an utterance is final, its pending partial translations are dropped. If one
 * fails, no more are requested for that utterance; the error is reported with the final.
 */
export class PartialTranslations {
  readonly #options: PartialTranslationsOptions
  /** The newest texts that wait, by utterance. */
  readonly #waiting = new Map<string, UtteranceWithId>()
  #running: { id: string; controller: AbortController } | undefined
  /** The utterances whose translation failed. */
  readonly #failed = new Set<string>()
  /** The last translated text of each utterance. */
  readonly #translated = new Map<string, string>()
  #usage: TokenUsage | undefined
  #isOver = false

  constructor(options: PartialTranslationsOptions) {
    this.#options = options
  }

  /** Accepts the text so far of an open utterance. */
  offer(partial: UtteranceWithId): void {
    const { id, utterance } = partial
    if (this.#isOver || this.#failed.has(id) || utterance.words.length === 0) return
    this.#waiting.set(id, partial)
    if (!this.#running) void this.#runAll()
  }

  /** Drops the translations of an utterance that is final now. */
  drop(id: string): void {
    this.#waiting.delete(id)
    this.#failed.delete(id)
    this.#translated.delete(id)
    if (this.#running?.id === id) this.#running.controller.abort()
  }

  /** Drops everything, for good. */
  end(): void {
    this.#isOver = true
    this.#waiting.clear()
    this.#running?.controller.abort()
  }

  /**
   * Returns the tokens that language models used since the last call, so that each is counted once.
   */
  takeUsage(): TokenUsage | undefined {
    const usage = this.#usage
    this.#usage = undefined
    return usage
  }

  async #runAll(): Promise<void> {
    for (const partial of this.#next()) {
      const controller = new AbortController()
      this.#running = { id: partial.id, controller }
      await this.#run(partial, AbortSignal.any([this.#options.signal, controller.signal]))
      this.#running = undefined
    }
  }

  *#next(): Generator<UtteranceWithId> {
    for (;;) {
      const [partial] = this.#waiting.values()
      if (!partial || this.#isOver) return
      this.#waiting.delete(partial.id)
      // A partial with an unchanged text is not translated again.
      if (this.#translated.get(partial.id) !== partial.utterance.text) yield partial
    }
  }

  async #run(partial: UtteranceWithId, signal: AbortSignal): Promise<void> {
    const { services, send, log } = this.#options
    try {
      const envelope = await services.translatePartial(partial.utterance, signal)
      this.#usage = sumUsage([this.#usage, envelope.usage])
      if (signal.aborted) return
      if (!envelope.success) return this.#stopTranslating(partial)
      this.#translated.set(partial.id, partial.utterance.text)
      send(partial, envelope)
    } catch (error) {
      if (signal.aborted) return
      log.error({ err: error, utterance: partial.id }, 'cannot translate a partial')
      this.#stopTranslating(partial)
    }
  }

  #stopTranslating({ id }: UtteranceWithId): void {
    this.#failed.add(id)
    this.#waiting.delete(id)
  }
}
