import type { Log } from '../../observability/log.ts'
import { sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import type { UtteranceWithId } from './realtime-add-ons.ts'
import type { ServiceEnvelope, SessionServices } from './session-services.ts'

/** What the translations of partials need. */
export type PartialTranslationsOptions = {
  services: Pick<SessionServices, 'translatePartial'>
  /** Sends what was translated, as long as its utterance is open. */
  send(partial: UtteranceWithId, envelope: ServiceEnvelope): void
  log: Log
  /** Aborted when the session is suspended. */
  signal: AbortSignal
}

/**
 * Translates open utterances: one at a time in a session, each time the newest text of one. Once an
 * utterance is final, its pending partial translations are dropped. If one fails, no more are
 * requested for that utterance; the error is reported with the final.
 */
export class PartialTranslations {
  readonly #options: PartialTranslationsOptions
  /** The newest texts that wait, by utterance. */
  readonly #waiting = new Map<string, UtteranceWithId>()
  #running: { id: string; controller: AbortController } | undefined
  #failed: string | undefined
  #translated = ''
  #taken: TokenUsage | undefined
  #isOver = false

  constructor(options: PartialTranslationsOptions) {
    this.#options = options
  }

  /** Takes the text so far of an open utterance. */
  offer(partial: UtteranceWithId): void {
    const { id, utterance } = partial
    if (this.#isOver || id === this.#failed || utterance.words.length === 0) return
    this.#waiting.set(id, partial)
    if (!this.#running) void this.#runAll()
  }

  /** Drops what is not sent yet of an utterance whose final is there. */
  drop(id: string): void {
    this.#waiting.delete(id)
    if (this.#running?.id === id) this.#running.controller.abort()
  }

  /** Drops everything, for good. */
  end(): void {
    this.#isOver = true
    this.#waiting.clear()
    this.#running?.controller.abort()
  }

  /** Returns what language models took since the last call, so that it is counted once. */
  takeUsage(): TokenUsage | undefined {
    const takenUtterances = this.#taken
    this.#taken = undefined
    return takenUtterances
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
      // A partial that says the same again costs nothing.
      if (idAndText(partial) !== this.#translated) yield partial
    }
  }

  async #run(partial: UtteranceWithId, signal: AbortSignal): Promise<void> {
    const { services, send, log } = this.#options
    try {
      const envelope = await services.translatePartial(partial.utterance, signal)
      this.#taken = sumUsage([this.#taken, envelope.usage])
      if (signal.aborted) return
      if (!envelope.success) return this.#leave(partial)
      this.#translated = idAndText(partial)
      send(partial, envelope)
    } catch (error) {
      if (signal.aborted) return
      log.error({ err: error, utterance: partial.id }, 'cannot translate a partial')
      this.#leave(partial)
    }
  }

  #leave({ id }: UtteranceWithId): void {
    this.#failed = id
    this.#waiting.delete(id)
  }
}

function idAndText({ id, utterance }: UtteranceWithId): string {
  return `${id} ${utterance.text}`
}
