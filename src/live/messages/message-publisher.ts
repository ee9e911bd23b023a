import type { Log } from '../../observability/log.ts'
import { failedEnvelope } from '../../text/result/steps/envelope.ts'
import { sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import { floorTo, roundTo } from '../../transcript/rounding.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import type { Journal } from '../journal/journal.ts'
import { type AddOnRecord, formatLogRecord, type UtteranceRecord } from '../journal/log-records.ts'
import { type AlreadySent, speechKey } from '../journal/session-recovery.ts'
import type { ChannelEvent } from '../recognition/events/channel-events.ts'
import { noMetrics, type SessionMetrics } from '../sessions/session-metrics.ts'
import { limitToAudio, utteranceId } from './live-utterance.ts'
import { cacheServiceResponses } from './logged-responses.ts'
import type { MessageOutbox, SendMessageOptions } from './message-outbox.ts'
import type { PartialTranslations } from './partial-translations.ts'
import {
  type AddOnGroup,
  type AddOnResults,
  answersMessage,
  type RealtimeHook,
  summaryMessage,
  type UtteranceWithId,
} from './realtime-add-ons.ts'
import { headOf, type ServerMessage, type TextMessage } from './server-messages.ts'
import type { MemoizeResponse, ServiceEnvelope } from './session-services.ts'

/** Options of the message publisher. */
export type MessagePublisherOptions = {
  outbox: MessageOutbox
  journal: Journal
  /** The hooks of the add-ons that process each final utterance. */
  hooks: readonly RealtimeHook[]
  /** Translates open utterances, where that is requested. */
  partials?: PartialTranslations | undefined
  /** The messages that an earlier process sent. */
  sent: AlreadySent
  /** Returns the seconds of audio so far. */
  seconds(): number
  metrics?: SessionMetrics | undefined
  log: Log
  signal: AbortSignal
}

/** Runs an add-on at the end of a session, if it was requested. */
type RunClosingAddOn = (memoize: MemoizeResponse) => Promise<ServiceEnvelope | undefined>

/** The causes of `error` messages. */
const errors = {
  invalid_message: { status_code: 400, exception: 'InvalidMessage' },
  session_timeout: { status_code: 408, exception: 'SessionTimeout' },
  internal_error: { status_code: 500, exception: 'InternalError' },
} as const

/**
 * Turns the events of a session into messages, and never sends one twice: when audio is recognized
 * again after a crash, it omits the messages that were already sent.
 */
export class MessagePublisher {
  readonly #options: MessagePublisherOptions
  readonly #addOns = new Set<Promise<void>>()
  /**
   * The last run of service add-ons on each channel: their results are sent in the order of the
   * utterances of a channel.
   */
  readonly #serviceAddOns = new Map<number, Promise<void>>()

  constructor(options: MessagePublisherOptions) {
    this.#options = options
  }

  /**
   * Runs the add-ons on utterances for which an earlier process was killed before it logged their
   * results.
   */
  resume(): void {
    const { pendingAddOns, lastResults } = this.#options.sent
    if (lastResults) {
      const { utterance, found, sent } = lastResults
      this.#sendAddOnResults(inputOf(utterance), found, sent)
    }
    for (const { utterance, group } of pendingAddOns.values()) {
      this.#startAddOns(utterance, group)
    }
  }

  /** Sends the messages for an event of the recognition. */
  recognized(event: ChannelEvent): void {
    switch (event.type) {
      case 'speech_start':
      case 'speech_end':
        this.#speech(event)
        break
      case 'partial':
        this.#partial(event)
        break
      case 'final':
        this.#final(event)
    }
  }

  sendError({ code, message }: { code: keyof typeof errors; message: string }): void {
    const error = { ...errors[code], message }
    this.#options.outbox.send({ type: 'error', error, data: { code, message } })
  }

  /** Sends a message that occurs once per session. */
  sendOnce(message: ServerMessage | TextMessage, options: SendMessageOptions = {}): void {
    void this.prepareOnce(message, options)()
  }

  /** Stores a message that occurs once per session, and returns the function that sends it. */
  prepareOnce(
    message: ServerMessage | TextMessage,
    options: SendMessageOptions = {},
  ): () => Promise<void> {
    const { outbox, sent } = this.#options
    if (sent.onceMessages.has(message.type)) return async () => outbox.release(message.type)
    return outbox.prepare(message, options)
  }

  /** Returns the text of a message that occurs once per session, if it was sent before a crash. */
  earlierText(type: TextMessage['type']): string | undefined {
    return this.#options.sent.onceMessages.get(type)
  }

  /**
   * Sends the summary that `run` returns, if any, and returns it. A summary that an earlier process
   * logged is used instead: the client may have received it, and result and message must agree.
   */
  async sendSummary(run: RunClosingAddOn): Promise<ServiceEnvelope | undefined> {
    const { sent } = this.#options
    const summary = sent.summary ?? (await run(this.#memoize('summary')))
    if (!summary) return undefined
    if (!sent.summary) this.#appendLine(formatLogRecord({ kind: 'summary', summary }))
    this.sendOnce(summaryMessage(summary), { isClosing: true })
    return summary
  }

  /** Sends the answers to prompts that `run` returns, if any, as `sendSummary` sends a summary. */
  async sendAnswers(run: RunClosingAddOn): Promise<ServiceEnvelope | undefined> {
    const { sent } = this.#options
    const prompted = sent.prompted ?? (await run(this.#memoize('prompted')))
    if (!prompted) return undefined
    if (!sent.prompted) this.#appendLine(formatLogRecord({ kind: 'prompted', prompted }))
    this.sendOnce(answersMessage(prompted), { isClosing: true })
    return prompted
  }

  /** Characters of the session's transcript so far, as JSON. */
  get utteranceChars(): number {
    return this.#options.sent.utteranceChars
  }

  /** Resolves when the add-ons have processed all utterances. Call it when no utterance is open. */
  async addOnsDone(): Promise<void> {
    this.#options.partials?.end()
    while (this.#addOns.size > 0) await Promise.all(this.#addOns)
  }

  #speech({ type, time, channel }: Extract<ChannelEvent, { time: number }>): void {
    const { outbox, sent, seconds } = this.#options
    // The last frame of a session is padded with silence.
    const data = { time: Math.min(roundTo(time, 3), floorTo(seconds(), 3)), channel }
    if (!sent.speech.has(speechKey(type, data))) outbox.send({ type, data })
  }

  #partial(event: Extract<ChannelEvent, { type: 'partial' }>): void {
    const { outbox, sent, seconds, partials, metrics = noMetrics } = this.#options
    const id = utteranceId(event)
    // Audio after the last snapshot is recognized again: the final may have been sent.
    if (sent.finals.has(id) || sent.done.has(id)) return
    sent.partials.add(id)
    const utterance = limitToAudio(event.view, seconds())
    outbox.send({ type: 'transcript', data: { id, is_final: false, utterance } })
    partials?.offer({ id, utterance })
    if (event.begunAt !== undefined) metrics.partial(event.begunAt)
  }

  #final(event: Extract<ChannelEvent, { type: 'final' }>): void {
    const { outbox, sent, seconds, log, hooks, partials } = this.#options
    const id = utteranceId(event)
    partials?.drop(id)
    const view = limitToAudio(event.view, seconds())
    if (event.error !== undefined) {
      log.error({ err: event.error, utterance: id }, 'cannot recognize an utterance')
      this.sendError({ code: 'internal_error', message: `utterance ${id} could not be recognized` })
    }
    const hasWords = view.words.length > 0
    // An empty final is sent only if a partial of its utterance was.
    const isSent = hasWords || sent.partials.has(id)
    if (isSent && !sent.finals.has(id)) {
      outbox.send({ type: 'transcript', data: { id, is_final: true, utterance: view } })
      this.#measure(id, event.endedAt)
    }
    sent.partials.delete(id)
    if (sent.done.has(id)) return
    const { channel, number } = event
    const utterance = { channel, number, text: hasWords ? JSON.stringify(view) : null }
    sent.utteranceChars += utterance.text?.length ?? 0
    this.#appendLine(formatLogRecord({ kind: 'utterance', utterance }))
    if (!hasWords) return
    for (const group of new Set(hooks.map((hook) => hook.group)))
      this.#startAddOns(utterance, group)
  }

  /** Measures the latency of a final, once it is stored. */
  #measure(id: string, endedAt: number | undefined): void {
    const { journal, metrics = noMetrics } = this.#options
    if (endedAt === undefined) return
    void journal.append({ lines: [] }).durable.then(() => metrics.final({ id, endedAt }))
  }

  /** Starts a group of add-ons on an utterance. */
  #startAddOns(utterance: UtteranceRecord, group: AddOnGroup): void {
    const { channel } = utterance
    const isOwn = group === 'own'
    const before = isOwn ? undefined : this.#serviceAddOns.get(channel)
    const work = this.#runAddOns(utterance, { group, before })
    const tracked = work.finally(() => this.#addOns.delete(tracked))
    this.#addOns.add(tracked)
    if (!isOwn) this.#serviceAddOns.set(channel, tracked)
  }

  /**
   * Runs a group of add-ons on an utterance. Logs the results of all of them first, then sends
   * their messages at once: if the process is killed in between, the next one sends the remaining
   * messages. `before` is the run whose messages must be sent first.
   */
  async #runAddOns(
    utterance: UtteranceRecord,
    { group, before }: { group: AddOnGroup; before: Promise<void> | undefined },
  ): Promise<void> {
    const { log, signal, partials } = this.#options
    const hooks = this.#options.hooks.filter((hook) => hook.group === group)
    if (hooks.length === 0) return
    const { channel, number } = utterance
    const input = inputOf(utterance)
    const memoize = this.#memoize(input.id)
    const results: AddOnResults = {}
    const running = hooks.map(async ({ type, run }) => {
      try {
        if (run) results[type] = await run({ ...input, signal, memoize })
      } catch (cause) {
        if (signal.aborted) return
        log.error({ err: cause, addOn: type, utterance: input.id }, 'an add-on failed')
        const message = `an add-on failed on utterance ${input.id}`
        results[type] = failedEnvelope(
          type,
          { ...errors.internal_error, message },
          { format: 'native' },
        )
      }
    })
    await Promise.all(running)
    await before
    if (signal.aborted) return
    const { translation } = results
    const partialsUsage = translation && partials?.takeUsage()
    if (partialsUsage) results.translation = withUsage(translation, partialsUsage)
    const found = { channel, number, ...(group !== 'own' && { group }), results }
    this.#appendLine(formatLogRecord({ kind: 'found', found }))
    this.#sendAddOnResults(input, found)
  }

  /**
   * Sends the messages with the results for an utterance; the first `sent` of them were sent
   * before.
   */
  #sendAddOnResults(
    input: UtteranceWithId,
    { group = 'own', results }: AddOnRecord,
    sent = 0,
  ): void {
    const { outbox } = this.#options
    const hooks = this.#options.hooks.filter((hook) => hook.group === group)
    const messages = hooks.flatMap((hook) => hook.messages(results[hook.type], input))
    const wantedMessages = messages.filter((message) => outbox.hasReceiver(headOf(message)))
    for (const message of wantedMessages.slice(sent)) outbox.send(message)
  }

  #memoize(purpose: string): MemoizeResponse {
    const { journal, sent } = this.#options
    return cacheServiceResponses(purpose, { journal, logged: sent.responses })
  }

  #appendLine(line: string): void {
    this.#options.journal.append({ lines: [line] })
  }
}

function inputOf(utterance: UtteranceRecord): UtteranceWithId {
  return { id: utteranceId(utterance), utterance: JSON.parse(utterance.text!) as UtteranceView }
}

/** Adds the tokens that the partials of an utterance used to its final. */
function withUsage(envelope: ServiceEnvelope, partialsUsage: TokenUsage): ServiceEnvelope {
  return { ...envelope, usage: sumUsage([envelope.usage, partialsUsage])! }
}
