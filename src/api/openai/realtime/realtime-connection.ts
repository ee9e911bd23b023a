import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../errors.ts'
import { closeCodes } from '../../../live/connection/close-codes.ts'
import type { Connection, OutgoingMessage } from '../../../live/connection/connection.ts'
import { hasManyValues } from '../../../live/input/client-frames.ts'
import type { ServerMessage } from '../../../live/messages/server-messages.ts'
import type { SocketConnection } from '../../routes/live/sockets/serve-connection.ts'
import { toOpenAiError } from '../errors.ts'
import { createRateDoubler } from './double-rate.ts'
import {
  bytesPerSecond,
  defaultSettings,
  describeSession,
  invalidRequest,
  type RealtimeSettings,
  type RealtimeVersion,
  silenceOf,
  toLiveSessionRequest,
  updateSettings,
} from './session-settings.ts'
import { type RealtimeEvent, RealtimeTurns, type TurnUtterance } from './turn-events.ts'

/** Creates a live session from this body, and connects to it. */
export type OpenSession = (body: object) => Promise<Connection>

/** Rejects if no live session can be created from this body. */
export type CheckSession = (body: object) => Promise<void>

/** Options of a connection. */
export type RealtimeOptions = {
  account: string
  version: RealtimeVersion
  /** The settings with which a client secret was created. */
  settings?: RealtimeSettings | undefined
  check: CheckSession
  open: OpenSession
}

type EventFields = Record<string, unknown>

/** A live session that receives the audio of the socket. */
type OpenedSession = {
  opening: Promise<Connection | undefined>
  connection: Connection | undefined
  /** Converts the audio of the client. */
  convert: (chunk: Uint8Array) => Uint8Array
  /** The finals so far if the client ends turns itself, and otherwise undefined. */
  finals: TurnUtterance[] | undefined
  /** Why the session ended, if it did before its client. */
  ending: 'committed' | 'discarded' | 'replaced' | undefined
  /** Whether the client has changed settings, so that the session ends with the speech. */
  isOutdated: boolean
  /** Seconds of audio that the client sent before this session. */
  startSeconds: number
}

/**
 * Maximum events that wait for a client. Beyond them, no more messages of the session are read
 * until the client reads.
 */
const MAX_PENDING_EVENTS = 1000
/** Base64 in either alphabet, with or without padding. */
const BASE64 = /^[\w+/-]*={0,2}$/
const STOP = Buffer.from('{"type":"stop_recording"}')

/**
 * Serves OpenAI's realtime transcription on one socket, using live sessions of this server. The
 * first audio opens a session. With `server_vad`, it serves the socket until the client commits its
 * audio; if the client commits each turn itself, each turn is a session. The socket handler treats
 * this object like the connection of a session.
 */
export class RealtimeConnection implements SocketConnection {
  readonly #options: RealtimeOptions
  readonly #id = `sess_${randomUUID().replaceAll('-', '')}`
  #settings: RealtimeSettings = defaultSettings
  #pendingUpdate: Promise<void> | undefined
  #session: OpenedSession | undefined
  #turns: RealtimeTurns | undefined
  #receivedSeconds = 0
  /**
   * Resolves when the messages of all sessions so far are relayed. Sessions are relayed one after
   * another, so that the events of turns stay in order.
   */
  #lastRelay: Promise<unknown> = Promise.resolve()
  #pendingEvents: OutgoingMessage[] = []
  #notifyReader: (() => void) | undefined
  #capacity: PromiseWithResolvers<void> | undefined
  #closeCode: number | undefined
  readonly isResumed = false

  constructor(options: RealtimeOptions) {
    this.#options = options
    if (options.settings) this.#settings = options.settings
    this.#emitSession('created')
  }

  get account(): string {
    return this.#options.account
  }

  get closeCode(): number | undefined {
    return this.#closeCode
  }

  /** Whether a session receives audio now. */
  get hasSession(): boolean {
    return this.#session !== undefined
  }

  receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#closeCode !== undefined) return
    const text = Buffer.from(data.buffer, data.byteOffset, data.length)
    const event = isBinary || hasManyValues(text) ? undefined : parseEvent(text.toString())
    const { type, event_id: eventId } = event ?? {}
    const id = typeof eventId === 'string' ? eventId : null
    try {
      if (!event || typeof type !== 'string')
        throw invalidRequest('the event is not a JSON object with a type')
      this.#handle(type, event, id)
    } catch (error) {
      this.#fail(error, id)
    }
  }

  #handle(type: string, event: EventFields, id: string | null): void {
    switch (type) {
      case 'session.update':
      case 'transcription_session.update':
        this.#changeSettings(event.session, id)
        break
      case 'input_audio_buffer.append':
        this.#append(event.audio)
        break
      case 'input_audio_buffer.commit':
        this.#commit()
        break
      case 'input_audio_buffer.clear':
        if (this.#session?.finals) this.#endSession('discarded')
        this.#emit({ type: 'input_audio_buffer.cleared' })
        break
      default:
        throw invalidRequest(`this server only transcribes: ${type.slice(0, 60)} is unknown here`)
    }
  }

  /**
   * Changes the settings if a session may have them. Later frames wait until that is known. A turn
   * that the client ends keeps those with which it began.
   */
  #changeSettings(session: unknown, eventId: string | null): void {
    const settings = updateSettings(this.#settings, session)
    if (this.#session && settings.format !== this.#settings.format)
      throw invalidRequest('the format of the audio must stay the same within a turn')
    const request = toLiveSessionRequest(settings)
    const isServerTurn = silenceOf(settings) !== null
    const isSame = isDeepStrictEqual(request, toLiveSessionRequest(this.#settings))
    this.#pendingUpdate = this.#options
      .check(request)
      .then(
        () => {
          this.#settings = settings
          const staysOpen = this.#session?.finals ? !isServerTurn : isServerTurn && isSame
          if (!staysOpen) this.#replaceSession(isServerTurn)
          this.#emitSession('updated')
        },
        (error: unknown) => this.#fail(error, eventId),
      )
      .finally(() => {
        this.#pendingUpdate = undefined
      })
  }

  #append(base64: unknown): void {
    if (typeof base64 !== 'string' || !BASE64.test(base64))
      throw invalidRequest('audio must be base64')
    const bytes = Buffer.from(base64, 'base64')
    if (bytes.length === 0) return
    this.#session ??= this.#openSession()
    const session = this.#session
    this.#receivedSeconds += bytes.length / bytesPerSecond[this.#settings.format]
    const chunk = session.convert(bytes)
    if (session.connection) session.connection.receive(chunk, true)
    else void session.opening.then((connection) => connection?.receive(chunk, true))
  }

  #commit(): void {
    if (this.#session) this.#endSession('committed')
    // With `server_vad`, the server may have ended the turn already.
    else if (silenceOf(this.#settings) === null) throw invalidRequest('the buffer holds no audio')
  }

  #endSession(ending: OpenedSession['ending']): void {
    const session = this.#session
    if (!session) return
    this.#session = undefined
    session.ending = ending
    void session.opening.then((connection) => connection?.receive(STOP, false))
  }

  /** Ends the session, but not amid a speech whose end the server detects. */
  #replaceSession(isServerTurn: boolean): void {
    if (this.#session && isServerTurn && this.#turns?.isSpeaking) this.#session.isOutdated = true
    else this.#endSession('replaced')
  }

  #openSession(): OpenedSession {
    const { version, open } = this.#options
    const { format, logprobs } = this.#settings
    this.#turns ??= new RealtimeTurns({ version, logprobs })
    const request = toLiveSessionRequest(this.#settings)
    const earlierTurns = this.#lastRelay
    const opening = open(request)
      .catch(async () => {
        // The sessions of earlier turns may use the capacity until they end.
        await earlierTurns
        return open(request)
      })
      .catch((error: unknown) => {
        this.#fail(error, null)
        this.end(closeCodes.sessionFailed)
        return undefined
      })
    const session: OpenedSession = {
      opening,
      connection: undefined,
      convert: format === 'pcm16' ? createRateDoubler() : (chunk) => chunk,
      finals: silenceOf(this.#settings) === null ? [] : undefined,
      ending: undefined,
      isOutdated: false,
      startSeconds: this.#receivedSeconds,
    }
    void opening.then((connection) => {
      session.connection = connection
    })
    this.#lastRelay = this.#lastRelay.then(() => this.#relayMessages(session))
    return session
  }

  /** Converts the messages of a session to events for the client until the session has ended. */
  async #relayMessages(session: OpenedSession): Promise<void> {
    const connection = await session.opening
    if (!connection) return
    for await (const { text, sequence } of connection.messages()) {
      const message = JSON.parse(text) as ServerMessage
      const events = session.ending === 'discarded' ? [] : this.#toEvents(session, message)
      for (const event of events) this.#emit(event)
      const isSpeechOver = message.type === 'speech_end'
      if (isSpeechOver && session.isOutdated && this.#session === session)
        this.#endSession('replaced')
      if (sequence !== undefined) connection.markConfirmed(sequence)
      if (this.#pendingEvents.length > MAX_PENDING_EVENTS) await this.#waitForCapacity()
    }
    const { closeCode } = connection
    connection.socketClosed(closeCode ?? closeCodes.normal)
    if (session.ending === 'discarded') {
      this.#turns!.discarded()
    } else if (session.finals) {
      for (const event of this.#turns!.committed(session.finals)) this.#emit(event)
    } else if (this.#session === session) {
      this.end(closeCode ?? closeCodes.internalError)
    } else {
      const isCommitted = session.ending === 'committed'
      for (const event of this.#turns!.ended({ isCommitted })) this.#emit(event)
    }
  }

  #toEvents({ finals, startSeconds }: OpenedSession, message: ServerMessage): RealtimeEvent[] {
    const turns = this.#turns!
    switch (message.type) {
      case 'speech_start':
        return finals ? [] : turns.speechStarted(startSeconds + message.data.time)
      case 'speech_end':
        return finals ? [] : turns.speechStopped(startSeconds + message.data.time)
      case 'transcript': {
        const { is_final: isFinal, utterance: ofSession } = message.data
        const [start, end] = [startSeconds + ofSession.start, startSeconds + ofSession.end]
        const utterance = { ...ofSession, start, end }
        if (!isFinal) return turns.partial(utterance, finals)
        if (!finals) return turns.final(utterance)
        finals.push(utterance)
        return turns.spoken(finals)
      }
      case 'error': {
        const { code, message: text } = message.data
        return [
          { type: 'error', error: { type: 'server_error', code, message: text, param: null } },
        ]
      }
      default:
        return []
    }
  }

  whenReadable(): Promise<void> | undefined {
    const session = this.#session
    if (!session || this.#pendingUpdate) return this.#pendingUpdate
    return session.connection ? session.connection.whenReadable() : session.opening.then(() => {})
  }

  /** The messages of a session are acknowledged when they are passed on, so this does nothing. */
  markConfirmed(): void {}

  /** The client has disconnected; the audio that it sent is recognized to the end. */
  socketClosed(): void {
    this.end(closeCodes.normal)
    this.#capacity?.resolve()
    const session = this.#session
    void session?.opening.then((connection) => connection?.receive(STOP, false))
  }

  end(code: number): void {
    this.#closeCode ??= code
    this.#notifyReader?.()
  }

  async *messages(): AsyncGenerator<OutgoingMessage> {
    for (;;) {
      const message = this.#pendingEvents.shift()
      if (message) {
        if (this.#pendingEvents.length <= MAX_PENDING_EVENTS) this.#capacity?.resolve()
        yield message
      } else if (this.#closeCode !== undefined) {
        return
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#notifyReader = resolve
        await promise
      }
    }
  }

  async #waitForCapacity(): Promise<void> {
    if (this.#closeCode !== undefined) return
    this.#capacity = Promise.withResolvers<void>()
    await this.#capacity.promise
  }

  #emitSession(change: 'created' | 'updated'): void {
    const { version } = this.#options
    const name = version === 'beta' ? 'transcription_session' : 'session'
    this.#emit({
      type: `${name}.${change}`,
      session: describeSession(this.#id, this.#settings, version),
    })
  }

  #fail(error: unknown, eventId: string | null): void {
    const appError = error instanceof AppError ? error : new AppError('internal')
    this.#emit({ type: 'error', error: { ...toOpenAiError(appError).error, event_id: eventId } })
  }

  #emit(event: RealtimeEvent): void {
    if (this.#closeCode !== undefined) return
    const event_id = `event_${randomUUID().replaceAll('-', '')}`
    this.#pendingEvents.push({ text: JSON.stringify({ event_id, ...event }) })
    this.#notifyReader?.()
  }
}

function parseEvent(text: string): EventFields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as EventFields) : undefined
  } catch {
    return undefined
  }
}
