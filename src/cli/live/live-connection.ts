import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { isObject } from '../../is-object.ts'
import type { LiveMessage } from './live-api-types.ts'

/**
 * How a connection ended: the close code of the server, or 1006 if the server became unreachable.
 */
export type CloseFrame = { code: number; reason: string }

/**
 * Callbacks of a connection. `onMessage` gets each message with its arrival time
 * (`performance.now()`), `onLost` the close code of each lost connection.
 */
export type LiveEvents = {
  onMessage(message: LiveMessage, at: number): void
  onLost(code: number): void
}

/** The maximum size of a frame, as in the SDKs: half of the server's limit of 1 MiB. */
const MAX_FRAME_BYTES = 512 * 1024

/**
 * Maximum unacknowledged audio: four minutes of 16 kHz speech, longer than a server keeps a session
 * that lost its connection.
 */
const MAX_KEPT_BYTES = 8 * 1024 * 1024

/** Seconds before each attempt to reconnect; the last one repeats. */
const RETRY_AFTER = [0, 0.3, 0.6, 1.2, 2, 4, 8]

/**
 * When to give up reconnecting: by then a server has ended the session, unless it is configured to
 * wait longer.
 */
const GIVE_UP_MS = 120_000

/**
 * A server pings every 20 s. After this time without a ping or message, the connection is dead,
 * whatever TCP reports.
 */
const SILENCE_MS = 45_000

/**
 * When to give up the first connection: a server that responds over HTTP, but whose socket is
 * unreachable, is misconfigured.
 */
const FIRST_GIVE_UP_MS = 10_000

const HANDSHAKE_MS = 10_000

/** The close code after a text that is no message of a Steno server (RFC 6455, 7.4.1). */
const NOT_A_MESSAGE = 1007

/**
 * A live session over one or more successive connections. Keeps audio until it is acknowledged.
 * After a lost connection, it reconnects and resumes after the last acknowledged byte: it sends
 * this position as `offset`, and the server skips the bytes that had arrived nevertheless.
 */
export class LiveConnection {
  readonly #url: string
  readonly #events: LiveEvents
  readonly #ended = Promise.withResolvers<CloseFrame>()
  readonly #unacknowledged: { bytes: Uint8Array; end: number }[] = []
  readonly #watchdog: NodeJS.Timeout
  #sent = 0
  #acknowledged = 0
  #socket: WebSocket | undefined
  #isOpen = false
  #wasOpen = false
  #isEnded = false
  #problem = ''
  #stop: 'none' | 'wanted' | 'acknowledged' = 'none'
  #lastReceivedAt = performance.now()
  #attempt = 0
  #space = Promise.withResolvers<void>()

  private constructor(url: string, events: LiveEvents) {
    this.#url = url
    this.#events = events
    this.#watchdog = setInterval(() => {
      if (this.#isOpen && this.#silenceMs > SILENCE_MS) this.#socket?.terminate()
    }, 5000)
  }

  /** Connects to the session at `url`; throws `Error` if that is no address of a WebSocket. */
  static connect(url: string, events: LiveEvents): LiveConnection {
    if (!/^wss?:$/.test(URL.parse(url)?.protocol ?? '')) {
      throw new Error('The server does not say where the session is. Is it Steno?')
    }
    const connection = new LiveConnection(url, events)
    connection.#open({ isFirst: true })
    return connection
  }

  get ended(): Promise<CloseFrame> {
    return this.#ended.promise
  }

  /**
   * Sends audio. Resolves when there is buffer space for more: at once, unless much is not
   * acknowledged.
   */
  async send(bytes: Uint8Array): Promise<void> {
    this.#sent += bytes.length
    this.#unacknowledged.push({ bytes, end: this.#sent })
    if (this.#isOpen) this.#sendFrames(bytes)
    if (this.#isEnded || this.#sent - this.#acknowledged < MAX_KEPT_BYTES) return
    this.#space = Promise.withResolvers()
    await this.#space.promise
  }

  /** Ends the audio: requests the stop of the recording. */
  stop(): void {
    this.#stop = 'wanted'
    if (this.#isOpen) this.#sendStop()
  }

  /**
   * Disconnects. A server that has not received `stop` then ends the session with the audio that
   * has arrived.
   */
  close(): void {
    this.#end({ code: 1000, reason: '' })
    this.#socket?.close(1000)
  }

  get #silenceMs(): number {
    return performance.now() - this.#lastReceivedAt
  }

  #open({ isFirst }: { isFirst: boolean }): void {
    const address = new URL(this.#url)
    if (!isFirst) address.searchParams.set('offset', String(this.#acknowledged))
    const socket = new WebSocket(address, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    })
    this.#socket = socket
    const recordReceipt = () => {
      this.#lastReceivedAt = performance.now()
    }
    // The handler of the close event reports the error.
    socket.on('error', (error) => {
      this.#problem = error.message
    })
    socket.on('open', () => {
      recordReceipt()
      this.#onOpen()
    })
    socket.on('ping', recordReceipt)
    socket.on('message', (text) => {
      recordReceipt()
      this.#attempt = 0
      const message = parseMessage(String(text))
      if (message) return this.#receive(message)
      this.#end({ code: NOT_A_MESSAGE, reason: '' })
      socket.close(NOT_A_MESSAGE)
    })
    socket.on('close', (code, reason) => {
      this.#isOpen = false
      if (this.#isEnded) return
      if (isFinal(code)) this.#end({ code, reason: String(reason) })
      else void this.#reconnect(code)
    })
  }

  /** Sends the audio that is not acknowledged yet. */
  #onOpen(): void {
    this.#isOpen = true
    this.#wasOpen = true
    const acknowledged = this.#acknowledged
    for (const { bytes, end } of this.#unacknowledged)
      this.#sendFrames(
        end - acknowledged < bytes.length ? bytes.subarray(acknowledged - end) : bytes,
      )
    if (this.#stop === 'wanted') this.#sendStop()
  }

  #receive(message: LiveMessage): void {
    if (message.type === 'audio_chunk' && message.acknowledged && message.data?.byte_range) {
      this.#acknowledge(message.data.byte_range[1])
    }
    if (message.type === 'stop_recording') this.#stop = 'acknowledged'
    this.#events.onMessage(message, performance.now())
  }

  #acknowledge(end: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, end)
    while (this.#unacknowledged[0] && this.#unacknowledged[0].end <= this.#acknowledged)
      this.#unacknowledged.shift()
    if (this.#sent - this.#acknowledged < MAX_KEPT_BYTES) this.#space.resolve()
  }

  async #reconnect(code: number): Promise<void> {
    if (this.#wasOpen && this.#attempt === 0) this.#events.onLost(code)
    if (this.#silenceMs > (this.#wasOpen ? GIVE_UP_MS : FIRST_GIVE_UP_MS)) {
      this.#end({ code: 1006, reason: this.#problem })
      return
    }
    const seconds = RETRY_AFTER[Math.min(this.#attempt++, RETRY_AFTER.length - 1)]!
    if (seconds > 0) await sleep(seconds * 1000)
    if (!this.#isEnded) this.#open({ isFirst: false })
  }

  #end(end: CloseFrame): void {
    clearInterval(this.#watchdog)
    this.#isEnded = true
    this.#space.resolve()
    this.#ended.resolve(end)
  }

  #sendFrames(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
      this.#socket?.send(bytes.subarray(at, at + MAX_FRAME_BYTES))
    }
  }

  #sendStop(): void {
    this.#socket?.send(JSON.stringify({ type: 'stop_recording' }))
  }
}

/** Returns the message that a text holds; undefined if no Steno server sent it. */
function parseMessage(text: string): LiveMessage | undefined {
  try {
    const body = JSON.parse(text)
    return isObject(body) && typeof body.type === 'string' ? (body as LiveMessage) : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns whether the server ended the session, normally (1000) or not. Any other code is a lost
 * connection.
 */
function isFinal(code: number): boolean {
  return code === 1000 || code >= 4400
}
