import type { LiveEars } from '../asr/live-ears.ts'
import { frameBytes, type SoundFormat } from '../audio/sound-format.ts'
import type { LiveConfig } from '../config.ts'
import type { Log } from '../log.ts'
import type { LiveFiles } from '../storage/live-files.ts'
import { roundTo } from '../transcript/rounding.ts'
import { type AddOnParams, type RealtimeHook, realtimeHooks, summaryMessage } from './add-ons.ts'
import type { HeardEvent } from './channel.ts'
import { readFrame } from './client-frames.ts'
import { Connection } from './connection.ts'
import { type EarlierSession, nothingTold, speechKey, type Told } from './earlier-session.ts'
import { type FormatParams, formatOf, secondsOf } from './format.ts'
import { Hearing } from './hearing.ts'
import { Journal } from './journal.ts'
import {
  dataOf,
  type MessageError,
  type MessageFlags,
  routingOf,
  type ServerMessage,
  type TextMessage,
} from './messages.ts'
import { Outbox } from './outbox.ts'
import { Reception } from './reception.ts'
import { buildResult, withMessages } from './result.ts'
import { createSessionLanguage, type LanguageConfig } from './session-language.ts'
import { type StopReason, writeRecord } from './session-log.ts'
import { endingBy, type UtteranceView, utteranceId, viewUtterance } from './views.ts'

/** `request_params` of a live session (contract 5.1). */
export type LiveParams = FormatParams &
  AddOnParams & {
    endpointing: number
    maximum_duration_without_endpointing: number
    language_config: LanguageConfig
    pre_processing: { audio_enhancer: boolean; speech_threshold: number }
    messages_config: MessageFlags
    callback: boolean
    callback_config?: MessageFlags
  }

/** What a session leaves when it ends. */
export type Outcome = {
  /** JSON text in pieces; it may be read more than once. */
  result(): AsyncIterable<string>
  format: SoundFormat
  soundBytes: number
  /** Seconds of sound. */
  duration: number
}

/** What a session is made from. */
export type SessionOptions = {
  id: string
  params: LiveParams
  files: LiveFiles
  /** Where the samples of each channel are written. */
  channelPaths: readonly string[]
  ears: LiveEars
  /** Languages that some model knows. */
  languages: readonly string[]
  config: LiveConfig
  /** What an earlier process noted of it; absent for a new one. */
  earlier?: EarlierSession | undefined
  /** Stores the outcome and ends the job with it, however often that has to be tried. */
  finish(outcome: Outcome, signal: AbortSignal): Promise<void>
  /** Ends the job as failed. */
  fail(): Promise<void>
  log: Log
}

/** How a session ended: for good, or only for this process, so that it can be taken up again from its files. */
export type SessionEnd = 'done' | 'failed' | 'left'

/** Frames that cannot be read, in a row, before a client is taken for something else. */
const MAX_UNREADABLE = 20
/** So much sound may wait for the disk before the socket is left unread. */
const MAX_UNSTORED_BYTES = 16 * 1024 * 1024
/** A client that was told to wait is read again when this share of the backlog is left. */
const ROOM_SHARE = 0.9
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1

const alreadyStopped: MessageError = {
  status_code: 409,
  exception: 'RecordingStopped',
  message: 'Recording already stopped',
}
const noStop = { type: 'stop_recording', acknowledged: false, error: null, data: null } as const
/** Exceptions of `error` messages, by their code. */
const exceptions = {
  invalid_message: 'InvalidMessage',
  session_timeout: 'SessionTimeout',
  internal_error: 'InternalError',
} as const
/** A partial, as far as routing is concerned. */
const somePartial: ServerMessage = {
  type: 'transcript',
  data: {
    id: '',
    is_final: false,
    utterance: viewUtterance([], { channel: 0, language: '', span: { start: 0, end: 0 } }),
  },
}

/**
 * A live session: sound comes in through connections, messages go out. It outlives its connections and,
 * with the help of its files, its process; it never sees a socket.
 *
 * open      Sound is taken, stored, acknowledged and heard. Messages go out as soon as they are stored;
 *           without a client, those that must arrive wait, and the session with them, for the resume
 *           window. It is left by `stop_recording`, a client that closes with 1000, the end of the
 *           window, or a limit.
 * stopping  No more sound is taken. What has come is heard to its end: the last finals go out, and what
 *           their add-ons found. Clients may still come and go.
 * closing   The messages about the whole session go out, the result is stored, the job is done.
 * over      The connection ends with 1000, after a time limit with 4408.
 *
 * From each state `leave` leads out of this process, without a trace in the files, and a lost engine to
 * a failed job.
 */
export class LiveSession {
  readonly #options: SessionOptions
  readonly #format: SoundFormat
  readonly #log: Log
  readonly #journal: Journal
  readonly #outbox: Outbox
  readonly #reception: Reception
  readonly #hearing: Hearing
  readonly #hooks: readonly RealtimeHook[]
  readonly #told: Told
  readonly #leaving = new AbortController()
  readonly #broken = Promise.withResolvers<never>()
  readonly #addOns = new Set<Promise<void>>()
  #connecting: Promise<unknown> = Promise.resolve()
  readonly #timers = new Map<StopReason, NodeJS.Timeout>()
  #state: 'open' | 'stopping' | 'closing' | 'over' = 'open'
  #stopReason: StopReason | undefined
  /** The close code that told its clients to come again, to another process or another try. */
  #leftWith: number | undefined
  #wasConnected: boolean
  #unreadable = 0
  #room: PromiseWithResolvers<void> | undefined

  constructor(options: SessionOptions) {
    const { id, params, files, ears, languages, config, earlier } = options
    const { signal } = this.#leaving
    this.#options = options
    this.#format = formatOf(params)
    this.#log = options.log.child({ sessionId: id })
    this.#hooks = realtimeHooks(params)
    this.#told = earlier?.told ?? nothingTold()
    this.#stopReason = earlier?.stop
    this.#wasConnected = earlier !== undefined
    this.#broken.promise.catch(() => {}) // `run` may not have begun to listen.
    const onBroken = (error: unknown) => this.#broken.reject(error)
    this.#journal = new Journal({ files, log: this.#log, signal, onBroken })
    this.#outbox = new Outbox({
      sessionId: id,
      routing: routingOf(params),
      journal: this.#journal,
      maxMissed: config.maxQueuedMessages,
      earlier: earlier?.messages,
    })
    this.#reception = new Reception({
      sessionId: id,
      format: this.#format,
      keepSeconds: config.resumeDedupe,
      earlier: earlier?.chunks,
      files,
      journal: this.#journal,
      outbox: this.#outbox,
      onWritten: () => {
        this.#hearing.grown(this.#frames)
        this.#makeRoom()
      },
      onMisuse: () => this.#outbox.connection?.end(4400),
    })
    this.#hearing = new Hearing(
      {
        ears,
        sound: {
          path: files.soundPath,
          start: files.soundStart,
          format: this.#format,
          isEnhanced: params.pre_processing.audio_enhancer,
          channels: options.channelPaths,
        },
        endpointing: {
          threshold: params.pre_processing.speech_threshold,
          hangover: config.vadHangover,
          endpointing: params.endpointing,
          maxSeconds: params.maximum_duration_without_endpointing,
        },
        language: createSessionLanguage(params.language_config, {
          installed: languages,
          decided: earlier?.snapshot?.language ?? null,
        }),
        partialIntervalMs: config.partialIntervalMs,
        tell: (event) => this.#tell(event),
        wantsPartials: () => this.#outbox.isWanted(somePartial),
        onHeard: () => this.#makeRoom(),
        onSnapshot: (snapshot) => this.#note(writeRecord({ kind: 'snapshot', snapshot })),
        log: this.#log,
        signal,
      },
      earlier?.snapshot,
    )
  }

  /** Whether sound is taken. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Lives through the states and resolves when it has ended. */
  async run(): Promise<SessionEnd> {
    try {
      this.#begin()
      await Promise.race([this.#work(), this.#broken.promise])
      return 'done'
    } catch (error) {
      if (this.#leaving.signal.aborted) return 'left'
      this.#log.error({ err: error }, 'live session failed')
      return this.#fail()
    } finally {
      this.#leaving.abort()
      for (const timer of this.#timers.values()) clearTimeout(timer)
    }
  }

  /**
   * Takes a client, in place of one that may be there. `offset`: the session byte that it sends next.
   * Resolves to a close code when it cannot be taken.
   */
  connect(options: { offset?: number | undefined } = {}): Promise<Connection | number> {
    // One after the other: each has to find what the one before it brought.
    const connected = this.#connecting.then(() => this.#connect(options))
    this.#connecting = connected.catch(() => {})
    return connected
  }

  async #connect({ offset }: { offset?: number | undefined }): Promise<Connection | number> {
    if (this.#refusal) return this.#refusal
    const earlier = this.#outbox.connection
    if (earlier) {
      this.#outbox.detach(earlier)
      earlier.end(4409)
    }
    if (!(await this.#reception.resume(offset))) {
      this.#awaitClient()
      return 4400
    }
    if (this.#refusal) return this.#refusal // It may have ended meanwhile.
    const isResumed = this.#wasConnected
    this.#wasConnected = true
    const connection: Connection = new Connection({
      isResumed,
      onFrame: (data, isBinary) => this.#receive(connection, data, isBinary),
      onSeen: (messages) => this.#seen(messages),
      onLost: (code) => this.#lost(connection, code),
      room: () => this.#roomFor(),
    })
    this.#stopTimer('lost')
    this.#restartIdle()
    this.#outbox.attach(connection)
    return connection
  }

  /** Ends the session for this process: what has come is stored, and the client told to come again. */
  async leave(): Promise<void> {
    const { connection } = this.#outbox
    if (connection) this.#reception.forget()
    await Promise.race([this.#journal.flushed(), this.#broken.promise]).catch(() => {})
    if (connection) this.#outbox.detach(connection)
    connection?.end(1012)
    this.#leftWith = 1012
    this.#leaving.abort()
  }

  /** A new session tells that it begins; every one sets its clocks. */
  #begin(): void {
    const { config, earlier } = this.#options
    const beganAt = earlier?.beganAt ?? Date.now()
    if (!earlier) {
      this.#note(writeRecord({ kind: 'begin', at: beganAt }))
      this.#once({ type: 'start_session' })
    }
    this.#once({ type: 'start_recording' })
    this.#hearing.grown(this.#frames)
    if (this.#stopReason) {
      this.#state = 'stopping'
      this.#hearing.end()
      return
    }
    this.#setTimer('too_long', beganAt + config.maxSeconds * 1000 - Date.now())
    if (!this.#outbox.connection) this.#awaitClient()
  }

  async #work(): Promise<void> {
    await this.#hearing.run()
    while (this.#addOns.size > 0) await Promise.all(this.#addOns)
    await this.#close()
  }

  #receive(connection: Connection, data: Uint8Array, isBinary: boolean): void {
    if (this.#outbox.connection !== connection) return
    this.#restartIdle()
    const frame = readFrame(data, isBinary)
    if (frame.type !== 'unreadable') this.#unreadable = 0
    switch (frame.type) {
      case 'audio':
        if (this.#state !== 'open') this.#refuseSound(alreadyStopped)
        else this.#take(frame.bytes)
        break
      case 'refused': {
        const { status, exception, message } = frame
        this.#refuseSound({ status_code: status, exception, message })
        break
      }
      case 'stop':
        this.#reception.settle()
        if (this.#state === 'open') this.#stop('client')
        else this.#outbox.send({ ...noStop, error: alreadyStopped })
        break
      case 'unreadable':
        this.#sendError({ code: 'invalid_message', status: 400, message: frame.message })
        if (++this.#unreadable >= MAX_UNREADABLE) this.#endWhenStored(connection, 4400)
    }
  }

  #take(bytes: Uint8Array): void {
    this.#reception.take(bytes)
    if (this.#seconds >= this.#options.config.maxSeconds) this.#stop('too_long')
  }

  #refuseSound(error: MessageError): void {
    this.#reception.settle()
    this.#outbox.send({ type: 'audio_chunk', acknowledged: false, error, data: null })
  }

  /** No more sound is taken; what has come is heard to its end. */
  #stop(reason: StopReason): void {
    if (this.#state !== 'open') return
    this.#reception.end()
    this.#state = 'stopping'
    this.#stopReason = reason
    for (const timer of this.#timers.keys()) this.#stopTimer(timer)
    if (reason === 'client') {
      const recording_duration = this.#seconds
      const left = Math.max(0, recording_duration - this.#hearing.heard)
      const data = { recording_duration, recording_left_to_process: roundTo(left, 6) }
      this.#outbox.send({ ...noStop, acknowledged: true, data })
    }
    if (reason === 'too_long') {
      const message = `the session is longer than ${this.#options.config.maxSeconds} s`
      this.#sendError({ code: 'session_timeout', status: 408, message })
    }
    this.#journal.append({
      lines: [writeRecord({ kind: 'stop', reason })],
      onWritten: () => this.#hearing.end(),
    })
  }

  /** Tells what was heard, unless it was told before a crash. */
  #tell(event: HeardEvent): void {
    const { channel } = event
    if (event.type !== 'partial' && event.type !== 'final') {
      // The last frame of a session is filled up with silence.
      const data = { time: roundTo(Math.min(event.time, this.#seconds), 3), channel }
      if (this.#told.speech.has(speechKey(event.type, data))) return
      this.#outbox.send({ type: event.type, data })
      return
    }
    const id = utteranceId(event)
    const utterance = endingBy(event.view, this.#seconds)
    const message: ServerMessage = {
      type: 'transcript',
      data: { id, is_final: event.type === 'final', utterance },
    }
    if (event.type === 'partial') {
      this.#told.partials.add(id)
      this.#outbox.send(message)
      return
    }
    if (event.error !== undefined) {
      this.#log.error({ err: event.error, utterance: id }, 'an utterance could not be recognised')
      const text = `utterance ${id} could not be recognised`
      this.#sendError({ code: 'internal_error', status: 500, message: text })
    }
    const hasWords = utterance.words.length > 0
    // An empty one is told only if something was said of it before.
    const isToldOf = hasWords || this.#told.partials.has(id)
    if (isToldOf && !this.#told.finals.has(id)) this.#outbox.send(message)
    this.#told.partials.delete(id)
    if (this.#told.done.has(id)) return
    const text = hasWords ? JSON.stringify(utterance) : null
    const record = writeRecord({ kind: 'utterance', utterance: { ...event, text } })
    if (!hasWords || this.#hooks.length === 0) this.#note(record)
    else this.#track(this.#runAddOns({ id, utterance }, record))
  }

  /** Runs the add-ons on an utterance, and notes it as done when their messages are. */
  async #runAddOns(input: { id: string; utterance: UtteranceView }, record: string): Promise<void> {
    const { signal } = this.#leaving
    for (const hook of this.#hooks) {
      for (const message of await hook({ ...input, signal })) this.#outbox.send(message)
    }
    this.#note(record)
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#addOns.delete(tracked))
    this.#addOns.add(tracked)
  }

  /** Tells about the whole session, stores its result, and ends it. */
  async #close(): Promise<void> {
    this.#state = 'closing'
    const { id, params, files, config, finish } = this.#options
    const duration = this.#seconds
    this.#once({ type: 'end_recording', data: { recording_duration: duration } })
    const readLog = () => files.readLines()
    const { channels } = this.#format
    const work = this.#hearing.work
    await this.#journal.flushed()
    const built = await buildResult(readLog, { duration, channels, work, params })
    // What an earlier process told of the result must stay true: it measured another time of work.
    const told = this.#told.once.get('post_final_transcript')
    const result = told ? { ...built, whole: dataOf(told) } : built
    this.#once({ type: 'post_transcript', text: result.transcription })
    const summary = summaryMessage(params)
    if (summary) this.#once(summary)
    // The last two are part of the result, and go out when it is stored.
    const last = [
      this.#prepareOnce({ type: 'post_final_transcript', text: result.whole }),
      this.#prepareOnce({ type: 'end_session' }),
    ]
    await this.#journal.flushed()
    const { signal } = this.#leaving
    const format = this.#format
    const options = {
      sessionId: id,
      format,
      hasAcks: this.#outbox.wantsAcks,
      maxMessages: config.maxStoredMessages,
    }
    const outcome = {
      result: () => withMessages(result.whole, readLog, options),
      format,
      soundBytes: this.#reception.sound,
      duration,
    }
    await finish(outcome, signal)
    for (const send of last) send()
    this.#state = 'over'
    this.#outbox.connection?.end(this.#stopReason === 'too_long' ? 4408 : 1000)
  }

  /** Sends what is sent once in a session. */
  #once(message: ServerMessage | TextMessage): void {
    this.#prepareOnce(message)()
  }

  #prepareOnce(message: ServerMessage | TextMessage): () => void {
    if (this.#told.once.has(message.type)) return () => this.#outbox.release(message.type)
    return this.#outbox.prepare(message, { isLast: this.#state === 'closing' })
  }

  /** The engine is lost, or the disk. */
  async #fail(): Promise<SessionEnd> {
    const { connection } = this.#outbox
    this.#state = 'over'
    this.#sendError({ code: 'internal_error', status: 500, message: 'the session failed' })
    const isStored = await Promise.race([
      this.#journal.flushed().then(() => true),
      this.#broken.promise.catch(() => false),
    ])
    if (isStored) await this.#options.fail()
    else this.#leftWith = 1011
    connection?.end(isStored ? 4500 : 1011)
    return isStored ? 'failed' : 'left'
  }

  #sendError(error: { code: keyof typeof exceptions; status: number; message: string }): void {
    const { code, status, message } = error
    this.#outbox.send({
      type: 'error',
      error: { status_code: status, exception: exceptions[code], message },
      data: { code, message },
    })
  }

  #lost(connection: Connection, code: number): void {
    const isCurrent = this.#outbox.connection === connection
    this.#outbox.detach(connection)
    if (!isCurrent) return
    this.#room?.resolve()
    this.#room = undefined
    this.#stopTimer('idle')
    if (code === 1000) {
      this.#stop('left')
    } else {
      this.#reception.forget()
      this.#awaitClient()
    }
  }

  #seen(messages: number): void {
    if (this.#state !== 'over') this.#note(writeRecord({ kind: 'seen', messages }))
  }

  #restartIdle(): void {
    const { idleTimeout } = this.#options.config
    if (idleTimeout > 0 && this.#state === 'open') this.#setTimer('idle', idleTimeout * 1000)
  }

  #awaitClient(): void {
    if (this.#state === 'open') this.#setTimer('lost', this.#options.config.resumeWindow * 1000)
  }

  #setTimer(reason: StopReason, milliseconds: number): void {
    this.#stopTimer(reason)
    const wait = Math.max(0, Math.min(milliseconds, MAX_TIMER_MS))
    this.#timers.set(
      reason,
      setTimeout(() => this.#stop(reason), wait),
    )
  }

  #stopTimer(reason: StopReason): void {
    clearTimeout(this.#timers.get(reason))
    this.#timers.delete(reason)
  }

  /** Ends a connection once all that was to be sent before is stored, and thus sent. */
  #endWhenStored(connection: Connection, code: number): void {
    this.#journal.append({ lines: [], onStored: () => connection.end(code) })
  }

  #note(line: string): void {
    this.#journal.append({ lines: [line] })
  }

  /** The close code for clients that come when they cannot be taken any more; undefined while they can. */
  get #refusal(): number | undefined {
    return this.#leftWith ?? (this.#state === 'over' ? 4410 : undefined)
  }

  /** Frames of sound in the files. */
  get #frames(): number {
    return Math.floor(this.#options.files.soundBytes / frameBytes(this.#format))
  }

  /** Seconds of sound that were taken. */
  get #seconds(): number {
    return roundTo(secondsOf(this.#reception.sound, this.#format), 6)
  }

  /** Undefined while more frames may be read. */
  #roomFor(): Promise<void> | undefined {
    if (this.#hasRoom(1)) return undefined
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  #makeRoom(): void {
    if (!this.#room || !this.#hasRoom(ROOM_SHARE)) return
    this.#room.resolve()
    this.#room = undefined
  }

  #hasRoom(share: number): boolean {
    if (this.#state !== 'open') return true
    const backlog = this.#seconds - this.#hearing.heard
    const { waitingBytes } = this.#journal
    return (
      backlog <= this.#options.config.maxBacklog * share &&
      waitingBytes <= MAX_UNSTORED_BYTES * share
    )
  }
}
