import { frameBytes } from '../audio/audio-format.ts'
import { wallNow } from '../clock.ts'
import type { Log } from '../observability/log.ts'
import type { JobFailure } from '../storage/jobs/finish-job.ts'
import { closeCodeOf, closeCodes } from './connection/close-codes.ts'
import { Connection, type ConnectOptions } from './connection/connection.ts'
import type { AudioInput } from './input/audio-input.ts'
import { BufferSpace } from './input/buffer-space.ts'
import { ClientInput } from './input/client-input.ts'
import { formatOf } from './input/session-format.ts'
import type { AppendOutcome, Journal } from './journal/journal.ts'
import { formatLogRecord, type LogRecord, type StopReason } from './journal/log-records.ts'
import { limitText, warningTexts } from './journal/session-warnings.ts'
import { sendClosingMessages } from './messages/closing-messages.ts'
import { stopAcknowledgment } from './messages/lifecycle-messages.ts'
import type { MessageOutbox } from './messages/message-outbox.ts'
import type { MessagePublisher } from './messages/message-publisher.ts'
import { routingOf } from './messages/server-messages.ts'
import type { RecognitionLoop } from './recognition/recognition-loop.ts'
import { SessionCanceledError, SessionLeaseLostError } from './result/live-job-finisher.ts'
import {
  createComponents,
  type SessionComponents,
  type SessionOptions,
} from './session-components.ts'
import { SessionTimers } from './sessions/session-timers.ts'

type SessionState = 'open' | 'stopping' | 'closing' | 'over' | 'suspended'

/**
 * How a session ended: `done` and `failed` are final; after `suspended`, it can be resumed from its
 * files; after `lease_lost`, another node runs it.
 */
export type SessionEnd = 'done' | 'failed' | 'suspended' | 'lease_lost'

/** Maximum audio that may wait for the disk before the server stops reading the socket. */
const MAX_UNSTORED_BYTES = 16 * 1024 * 1024
/** The share of `maxLogBytes` for the transcript, which is in memory several times at the end. */
const TRANSCRIPT_SHARE = 1 / 8
/** How long a suspended session waits for the disk. Its client keeps what was not acknowledged. */
const SUSPEND_TIMEOUT_MS = 5000
/** How long a client that reconnects waits for a full disk before it is asked to retry later. */
const STORE_TIMEOUT_MS = 3000

/**
 * A live session: audio arrives through connections, messages leave through them. It outlives its
 * connections and, by means of its files, its process; it never handles a socket.
 *
 * open       Audio is accepted, stored, acknowledged and recognized. Messages are sent as soon as
 *            they are stored; without a client, those that must arrive wait for the resume window,
 *            and so does the session. `stop_recording`, a client that closes with 1000, the end of
 *            the window, or a limit ends this state.
 * stopping   No more audio is accepted. What was received is recognized to its end: the last finals
 *            and the results of their add-ons are sent. Clients may still connect and disconnect.
 * closing    The messages about the whole session are sent, the result is stored, the job is done.
 *            What a client still sends is refused, and at the very end no longer answered.
 * over       The connection is closed, and clients can no longer connect.
 * suspended  Another process, or this one, resumes it from its files. Clients have to reconnect.
 *
 * From each of the first three states, `suspend`, a lost lease and a failing disk lead to
 * `suspended`, without a trace in the files; a lost engine and `cancel` lead to `over`, with a
 * failed job.
 */
export class LiveSession {
  readonly #options: SessionOptions
  readonly #diarize: SessionComponents['diarize']
  readonly #warn: SessionComponents['warn']
  readonly #log: Log
  readonly #journal: Journal
  readonly #outbox: MessageOutbox
  readonly #audioInput: AudioInput
  readonly #recognition: RecognitionLoop
  readonly #publisher: MessagePublisher
  readonly #timers = new SessionTimers((reason) => this.#stop(reason))
  readonly #stopping = new AbortController()
  readonly #canceled = Promise.withResolvers<never>()
  #connecting: Promise<unknown> = Promise.resolve()
  #state: SessionState = 'open'
  #stopReason: StopReason | undefined
  /** The close code with which further clients are refused. */
  #refusalCode: number | undefined
  #wasConnected: boolean
  readonly #clientInput: ClientInput
  /** Whether the last messages are built: no other message can be sent any more. */
  #hasLastMessages = false
  readonly #space = new BufferSpace({
    fill: () => this.#fill,
    // A client whose socket is not read cannot be idle.
    onFull: () => this.#timers.clear('idle'),
    onSpace: () => this.#restartIdle(),
  })

  constructor(options: SessionOptions) {
    const { id, earlier } = options
    this.#options = options
    this.#log = options.log.child({ sessionId: id })
    this.#canceled.promise.catch(() => {}) // A session that has ended does not await the promise.
    this.#stopReason = earlier?.stop
    this.#wasConnected = earlier !== undefined
    const components = createComponents(options, { log: this.#log, signal: this.#stopping.signal })
    this.#diarize = components.diarize
    this.#warn = components.warn
    this.#journal = components.journal
    this.#outbox = components.outbox
    this.#audioInput = components.audioInput
    this.#recognition = components.recognition
    this.#publisher = components.publisher
    this.#clientInput = new ClientInput(components)
  }

  /** Whether a client is connected. */
  get isConnected(): boolean {
    return this.#outbox.connection !== undefined
  }

  /** The load of the session on the machine now: 1 = continuous speech. */
  get weight(): number {
    return this.#recognition.load
  }

  /**
   * Ends the session as after `stop_recording`, because the key that created it is invalid;
   * disconnects its client.
   */
  revoke(): void {
    this.#stop('revoked')
    this.#outbox.disconnect(closeCodes.unauthorized)
  }

  /** Ends the session at once, as failed; what was recorded is kept. */
  cancel(failure: JobFailure): void {
    this.#canceled.reject(new SessionCanceledError(failure))
  }

  /** Runs through the states and resolves when the session has ended. */
  async run(): Promise<SessionEnd> {
    const { lost } = this.#options
    lost?.addEventListener('abort', () => this.#leaseLost(), { once: true })
    try {
      lost?.throwIfAborted() // It may have been lost while the session was opened.
      this.#begin()
      await Promise.race([this.#work(), this.#followJournal(), this.#canceled.promise])
      return 'done'
    } catch (error) {
      if (error instanceof SessionLeaseLostError || lost?.aborted) return this.#leaseLost()
      if (this.#stopping.signal.aborted) return 'suspended'
      if (error instanceof SessionCanceledError) return await this.#fail(error.failure)
      this.#log.error({ err: error }, 'live session failed')
      return await this.#fail()
    } finally {
      this.#stopping.abort()
      this.#timers.clearAll()
    }
  }

  /**
   * Accepts a client, which replaces a connected one. Resolves to a close code when the client
   * cannot be accepted.
   */
  connect(options: ConnectOptions = {}): Promise<Connection | number> {
    // One client after the other: each depends on the bytes that the previous one sent.
    const connected = this.#connecting.then(() => this.#connect(options))
    this.#connecting = connected.catch(() => {})
    return connected
  }

  async #connect({ offset, requestId, address }: ConnectOptions): Promise<Connection | number> {
    if (this.#refusalCode) return this.#refusalCode
    this.#outbox.drop(closeCodes.replaced)
    this.#awaitClient() // Runs until the client has connected.
    if (!(await this.#journal.flushedWithin(STORE_TIMEOUT_MS))) return closeCodes.overloaded
    if (!(await this.#audioInput.resume(offset))) return closeCodes.misuse
    if (this.#refusalCode) return this.#refusalCode // The session may have ended meanwhile.
    const isResumed = this.#wasConnected
    this.#wasConnected = true
    this.#clientInput.restart()
    const connection: Connection = new Connection({
      account: this.#options.account,
      unread: this.#options.unread,
      isResumed,
      onFrame: (data, isBinary) => this.#receive(connection, data, isBinary),
      onConfirmed: (messages) => {
        if (!this.#refusalCode) this.#appendRecord({ kind: 'seen', messages })
      },
      onLost: (code) => this.#connectionLost(connection, code),
      onFinished: () => this.#clientFinished(),
      whenReadable: () => this.#space.wait(),
    })
    this.#timers.clear('lost')
    this.#restartIdle()
    this.#outbox.attach(connection)
    this.#log.info({ requestId, address, isResumed }, 'client connected')
    return connection
  }

  /** Suspends the session: stores what has arrived, and disconnects the client. */
  async suspend(): Promise<void> {
    if (this.#state === 'over') return
    this.#enter('suspended', closeCodes.restart)
    this.#audioInput.dropHeld()
    await this.#journal.flushedWithin(SUSPEND_TIMEOUT_MS)
    this.#outbox.drop(closeCodes.restart)
    this.#stopping.abort()
  }

  /** Stops at once: another node runs the session, and the client reconnects to it. */
  #leaseLost(): SessionEnd {
    if (this.#state === 'over') return 'lease_lost'
    this.#stopping.abort()
    this.#enter('suspended', closeCodes.restart)
    this.#audioInput.dropHeld()
    this.#outbox.drop(closeCodes.restart)
    return 'lease_lost'
  }

  #enter(state: SessionState, refusal?: number): void {
    this.#state = state
    this.#refusalCode = refusal
    this.#timers.clearAll()
    this.#space.release()
  }

  /** Announces the session, unless an earlier process did; sets its timers. */
  #begin(): void {
    const { createdAt, config, earlier } = this.#options
    const beganAt = earlier?.beganAt ?? wallNow()
    if (earlier?.beganAt === undefined) this.#appendRecord({ kind: 'begin', at: beganAt })
    // Has the time of the creation's callback message; a resumed session may lack it, too.
    this.#publisher.sendOnce({ type: 'start_session' }, { at: createdAt })
    this.#publisher.sendOnce({ type: 'start_recording' })
    this.#publisher.resume()
    this.#offerAudio()
    if (this.#stopReason) {
      this.#enter('stopping')
      this.#recognition.end()
      return
    }
    this.#timers.set('too_long', beganAt + config.maxSeconds * 1000 - wallNow())
    if (!this.#outbox.connection) this.#awaitClient()
  }

  /** Offers what the journal has written: audio to recognition, messages to the callback. */
  async #followJournal(): Promise<never> {
    for await (const step of this.#journal.progress()) {
      if (step === 'written') this.#offerAudio()
      else this.#options.feed?.wake()
      this.#space.changed()
    }
    throw this.#stopping.signal.reason
  }

  /** Recognizes what is written, sends what is recognized, and closes the session. */
  async #work(): Promise<void> {
    for await (const event of this.#recognition.run()) {
      if (event.type === 'progress') this.#space.changed()
      else if (event.type === 'snapshot')
        this.#appendRecord({ kind: 'snapshot', snapshot: event.snapshot })
      else this.#publisher.recognized(event)
    }
    await this.#publisher.addOnsDone()
    await this.#close()
  }

  #offerAudio(): void {
    const { store, params } = this.#options
    this.#recognition.setAvailable(Math.floor(store.audioBytes / frameBytes(formatOf(params))))
  }

  #receive(connection: Connection, data: Uint8Array, isBinary: boolean): void {
    if (this.#outbox.connection !== connection || this.#refusalCode || this.#hasLastMessages) return
    this.#restartIdle()
    const content = this.#clientInput.receive(data, isBinary, { isOpen: this.#state === 'open' })
    if (content === 'audio') this.#checkLimits()
    if (content === 'stop') this.#stop('client')
  }

  #checkLimits(): void {
    const { maxLogBytes, maxSeconds } = this.#options.config
    const isTooLarge = this.#publisher.utteranceChars > maxLogBytes * TRANSCRIPT_SHARE
    if (this.#journal.isFull || isTooLarge) this.#stop('too_large')
    if (this.#audioInput.seconds >= maxSeconds) this.#stop('too_long')
  }

  /** Stops accepting audio; what was received is recognized to its end. */
  #stop(reason: StopReason): void {
    if (this.#state !== 'open') return
    this.#audioInput.end()
    this.#enter('stopping')
    this.#stopReason = reason
    if (reason === 'client') {
      const { recognizedSeconds: recognized } = this.#recognition
      this.#outbox.send(stopAcknowledgment({ received: this.#audioInput.seconds, recognized }))
    }
    if (reason === 'too_large') this.#warn(warningTexts.tooLarge)
    const message = limitText(reason, this.#options.config)
    if (message) this.#publisher.sendError({ code: 'session_timeout', message })
    void this.#appendRecord({ kind: 'stop', reason }).written.then(() => {
      this.#offerAudio() // The journal writes in order: all audio is written.
      this.#recognition.end()
    })
  }

  /** Sends the messages about the whole session, stores its result, and ends it. */
  async #close(): Promise<void> {
    this.#enter('closing')
    const { id, params, store, text, services, resultFormat, config, finish } = this.#options
    const { outcome, end } = await sendClosingMessages({
      sessionId: id,
      params,
      format: formatOf(params),
      audioBytes: this.#audioInput.audioBytes,
      duration: this.#audioInput.seconds,
      workSeconds: this.#recognition.workSeconds,
      hasAcks: this.#outbox.wantsAcks,
      maxMessages: config.maxStoredMessages,
      maxMessageBytes: config.maxStoredBytes,
      log: this.#log,
      readLog: () => store.readLines(),
      diarize: this.#diarize,
      text,
      services,
      resultFormat,
      onSent: () => {
        this.#hasLastMessages = true
      },
      publisher: this.#publisher,
      journal: this.#journal,
      signal: this.#stopping.signal,
    })
    await finish(outcome, this.#stopping.signal)
    await end()
    this.#enter('over', closeCodes.sessionEnded)
    this.#outbox.connection?.end(closeCodeOf(this.#stopReason))
  }

  /** Ends the session after the engine or the disk failed, or because it was canceled. */
  async #fail(canceled?: JobFailure): Promise<SessionEnd> {
    if (this.#state === 'open') {
      // The job keeps the audio that is recorded by now.
      this.#audioInput.end()
      this.#enter('stopping')
    }
    if (!canceled)
      this.#publisher.sendError({ code: 'internal_error', message: 'the session failed' })
    const isStored = await this.#journal.flushedWithin(SUSPEND_TIMEOUT_MS)
    // The last message of the callback is built next: any later event would reach only the client.
    this.#stopping.abort()
    if (!isStored) {
      this.#enter('suspended', closeCodes.internalError)
      this.#outbox.drop(closeCodes.internalError)
      return 'suspended'
    }
    await this.#options.fail(canceled)
    this.#enter('over', closeCodes.sessionEnded)
    this.#outbox.drop(canceled ? closeCodes.sessionEnded : closeCodes.sessionFailed)
    return 'failed'
  }

  /** The client has answered the close of the ended session: it has read all messages. */
  #clientFinished(): void {
    const { params, onResultDelivered } = this.#options
    if (routingOf(params).isForSocket({ type: 'post_final_transcript' })) onResultDelivered?.()
  }

  #connectionLost(connection: Connection, code: number): void {
    const isCurrent = this.#outbox.connection === connection
    this.#outbox.detach(connection)
    if (!isCurrent) return
    this.#log.info({ code }, 'client disconnected')
    this.#space.release()
    this.#timers.clear('idle')
    if (code === closeCodes.normal) {
      this.#stop('left')
    } else {
      this.#audioInput.dropHeld()
      this.#awaitClient()
    }
  }

  #restartIdle(): void {
    const { idleTimeout } = this.#options.config
    if (idleTimeout > 0 && this.#state === 'open') this.#timers.set('idle', idleTimeout * 1000)
  }

  #awaitClient(): void {
    if (this.#state === 'open') this.#timers.set('lost', this.#options.config.resumeWindow * 1000)
  }

  #appendRecord(record: LogRecord): AppendOutcome {
    return this.#journal.append({ lines: [formatLogRecord(record)] })
  }

  /** The fill level of the audio that waits to be recognized or stored; 1 = full. */
  get #fill(): number {
    if (this.#state !== 'open') return 0
    const waitingSeconds = this.#audioInput.seconds - this.#recognition.recognizedSeconds
    const backlog = waitingSeconds / this.#options.config.maxBacklog
    return Math.max(backlog, this.#journal.waitingBytes / MAX_UNSTORED_BYTES)
  }
}
