import { randomUUID } from 'node:crypto'
import { AppError } from '../../../errors.ts'
import type { Connection, Outgoing } from '../../../live/connection.ts'
import { hasManyValues } from '../../../live/input/client-frames.ts'
import type { ServerMessage } from '../../../live/messages/server-messages.ts'
import type { SocketConnection } from '../../serve-connection.ts'
import { toOpenAiError } from '../errors.ts'
import { createRateDoubler } from './double-rate.ts'
import {
  type Dialect,
  defaultSettings,
  type RealtimeSettings,
  toLiveBody,
  updateSettings,
  viewSession,
} from './session-settings.ts'
import { type Heard, type RealtimeEvent, Turns } from './turns.ts'

/** Creates a live session with this body, and connects to it. */
export type OpenSession = (body: object) => Promise<Connection>

/** Options of a connection. */
export type RealtimeOptions = {
  account: string
  dialect: Dialect
  /** What a client secret was made with. */
  settings?: RealtimeSettings | undefined
  open: OpenSession
}

type Fields = Record<string, unknown>

/** One live session behind the socket, while it takes audio or its finals are awaited. */
type Sound = {
  opening: Promise<Connection | undefined>
  connection: Connection | undefined
  /** Converts what the client sends. */
  convert: (chunk: Uint8Array) => Uint8Array
  /** With turns that the client ends, the finals so far; else undefined. */
  heard: Heard[] | undefined
  isDropped: boolean
}

/** Events that wait for a client before its session is not read any more. */
const MAX_WAITING = 1000
const STOP = Buffer.from('{"type":"stop_recording"}')

/**
 * Speaks OpenAI's realtime transcription over one socket, in front of live sessions of this server.
 * The first audio opens a session. With `server_vad`, one session serves the whole socket; where
 * the client commits its turns itself, each turn is a session of its own. The socket handler treats
 * it like the connection of a session.
 */
export class RealtimeConnection implements SocketConnection {
  readonly #options: RealtimeOptions
  readonly #id = `sess_${randomUUID().replaceAll('-', '')}`
  #settings: RealtimeSettings = defaultSettings
  #sound: Sound | undefined
  #turns: Turns | undefined
  /** Sessions that end one after the other, so that turns are told in order. */
  #ending: Promise<unknown> = Promise.resolve()
  #waiting: Outgoing[] = []
  #wake: (() => void) | undefined
  #free: PromiseWithResolvers<void> | undefined
  #closeCode: number | undefined
  readonly isResumed = false

  constructor(options: RealtimeOptions) {
    this.#options = options
    if (options.settings) this.#settings = options.settings
    this.#tellSession('created')
  }

  get account(): string {
    return this.#options.account
  }

  get closeCode(): number | undefined {
    return this.#closeCode
  }

  /** Whether it takes audio for a session. */
  get hasSession(): boolean {
    return this.#sound !== undefined
  }

  receive(data: Uint8Array, isBinary: boolean): void {
    if (this.#closeCode !== undefined) return
    const text = Buffer.from(data.buffer, data.byteOffset, data.length)
    const event = isBinary || hasManyValues(text) ? undefined : parse(text.toString())
    const { type, event_id: eventId } = event ?? {}
    const id = typeof eventId === 'string' ? eventId : null
    try {
      if (!event || typeof type !== 'string')
        throw unreadable('the event is no JSON object with a type')
      this.#handle(type, event)
    } catch (error) {
      this.#fail(error, id)
    }
  }

  #handle(type: string, event: Fields): void {
    switch (type) {
      case 'session.update':
      case 'transcription_session.update':
        if (this.#sound) throw unreadable('the session takes audio already')
        this.#settings = updateSettings(this.#settings, event.session)
        this.#tellSession('updated')
        break
      case 'input_audio_buffer.append':
        this.#append(event.audio)
        break
      case 'input_audio_buffer.commit':
        this.#commit()
        break
      case 'input_audio_buffer.clear':
        if (this.#sound?.heard) this.#drop()
        this.#tell({ type: 'input_audio_buffer.cleared' })
        break
      default:
        throw unreadable(`this server only transcribes: ${type.slice(0, 60)} is unknown here`)
    }
  }

  #append(audio: unknown): void {
    if (typeof audio !== 'string') throw unreadable('audio is no string')
    const bytes = Buffer.from(audio, 'base64')
    if (bytes.length === 0) return
    this.#sound ??= this.#open()
    const sound = this.#sound
    const chunk = sound.convert(bytes)
    if (sound.connection) sound.connection.receive(chunk, true)
    else void sound.opening.then((connection) => connection?.receive(chunk, true))
  }

  #commit(): void {
    const sound = this.#sound
    if (!sound?.heard) {
      if (this.#settings.silenceMs !== null) return // The server ends turns; it does so anyway.
      throw unreadable('the buffer holds no audio')
    }
    this.#sound = undefined
    void sound.opening.then((connection) => connection?.receive(STOP, false))
  }

  #drop(): void {
    const sound = this.#sound!
    this.#sound = undefined
    sound.isDropped = true
    void sound.opening.then((connection) => connection?.receive(STOP, false))
  }

  #open(): Sound {
    const { dialect, open } = this.#options
    const { format, logprobs, silenceMs } = this.#settings
    this.#turns ??= new Turns({ dialect, logprobs })
    const opening = open(toLiveBody(this.#settings)).catch((error: unknown) => {
      this.#fail(error, null)
      this.end(4500)
      return undefined
    })
    const sound: Sound = {
      opening,
      connection: undefined,
      convert: format === 'pcm16' ? createRateDoubler() : (chunk) => chunk,
      heard: silenceMs === null ? [] : undefined,
      isDropped: false,
    }
    void opening.then((connection) => {
      sound.connection = connection
    })
    this.#ending = this.#ending.then(() => this.#listen(sound))
    return sound
  }

  /** Passes on what a session says, until it has ended. */
  async #listen(sound: Sound): Promise<void> {
    const connection = await sound.opening
    if (!connection) return
    for await (const { text, number } of connection.messages()) {
      const message = JSON.parse(text) as ServerMessage
      const events = sound.isDropped ? [] : this.#translate(sound, message)
      for (const event of events) this.#tell(event)
      if (number !== undefined) connection.seen(number)
      if (this.#waiting.length > MAX_WAITING) await this.#untilFree()
    }
    const { closeCode } = connection
    connection.lost(closeCode ?? 1000)
    if (sound.heard && !sound.isDropped) {
      for (const event of this.#turns!.committed(sound.heard)) this.#tell(event)
    } else if (!sound.heard) {
      this.end(closeCode ?? 1011)
    }
  }

  #translate({ heard }: Sound, message: ServerMessage): RealtimeEvent[] {
    const turns = this.#turns!
    switch (message.type) {
      case 'speech_start':
        return heard ? [] : turns.started(message.data.time)
      case 'speech_end':
        return heard ? [] : turns.stopped(message.data.time)
      case 'transcript': {
        const { is_final: isFinal, utterance } = message.data
        if (!isFinal) return heard ? [] : turns.partial(utterance)
        heard?.push(utterance)
        return heard ? [] : turns.final(utterance)
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

  space(): Promise<void> | undefined {
    const sound = this.#sound
    if (!sound) return undefined
    return sound.connection ? sound.connection.space() : sound.opening.then(() => {})
  }

  /** Messages of a session count as seen when they are passed on. */
  seen(): void {}

  /** The client is gone: what it sent is recognized to its end. */
  lost(): void {
    this.end(1000)
    this.#free?.resolve()
    const sound = this.#sound
    void sound?.opening.then((connection) => connection?.receive(STOP, false))
  }

  end(code: number): void {
    this.#closeCode ??= code
    this.#wake?.()
  }

  async *messages(): AsyncGenerator<Outgoing> {
    for (;;) {
      const message = this.#waiting.shift()
      if (message) {
        if (this.#waiting.length <= MAX_WAITING) this.#free?.resolve()
        yield message
      } else if (this.#closeCode !== undefined) {
        return
      } else {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#wake = resolve
        await promise
      }
    }
  }

  async #untilFree(): Promise<void> {
    if (this.#closeCode !== undefined) return
    this.#free = Promise.withResolvers<void>()
    await this.#free.promise
  }

  #tellSession(what: 'created' | 'updated'): void {
    const { dialect } = this.#options
    const name = dialect === 'beta' ? 'transcription_session' : 'session'
    this.#tell({ type: `${name}.${what}`, session: viewSession(this.#id, this.#settings, dialect) })
  }

  #fail(error: unknown, eventId: string | null): void {
    const known = error instanceof AppError ? error : new AppError('internal')
    this.#tell({ type: 'error', error: { ...toOpenAiError(known).error, event_id: eventId } })
  }

  #tell(event: RealtimeEvent): void {
    if (this.#closeCode !== undefined) return
    const event_id = `event_${randomUUID().replaceAll('-', '')}`
    this.#waiting.push({ text: JSON.stringify({ event_id, ...event }) })
    this.#wake?.()
  }
}

function parse(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}

function unreadable(problem: string): AppError {
  return new AppError('request_invalid', undefined, { validationErrors: [problem] })
}
