import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { LiveMessage } from './live-api-types.ts'

/**
 * How a session ended: the close code of the server, or 1006 when the server became unreachable.
 */
export type CloseFrame = { code: number; reason: string }

/** Callbacks: each message with its arrival time, and each loss of the connection. */
export type LiveEvents = {
  onMessage(message: LiveMessage, at: number): void
  onLost(code: number): void
}

/** The server's limit of 1 MiB would also work; the SDKs send half of it. */
const MAX_FRAME_BYTES = 512 * 1024

/** Four minutes of 16 kHz speech: longer than a server keeps a session that lost its connection. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024

/** Seconds before each attempt to reconnect; the last one repeats. */
const RETRY_AFTER = [0, 0.3, 0.6, 1.2, 2, 4, 8]

/** By then a server has given the session up, unless it is configured to keep it longer. */
const GIVE_UP_MS = 120_000

/**
 * A server pings every 20 s. After this long without any sign the connection is dead, whatever TCP
 * reports.
 */
const SILENCE_MS = 45_000

/** A server that has just answered over HTTP but whose socket is unreachable is misconfigured. */
const FIRST_GIVE_UP_MS = 10_000

const HANDSHAKE_MS = 10_000

/**
 * A live session over one or more successive connections. It keeps audio until it is acknowledged.
 * After a lost connection it reconnects and resumes at the byte after the last ack: it sends the
 * server that position (`offset`), and the server skips what had arrived after all.
 */
export class LiveConnection {
  readonly #url: string
  readonly #events: LiveEvents
  readonly #ended = Promise.withResolvers<CloseFrame>()
  readonly #kept: { bytes: Uint8Array; end: number }[] = []
  readonly #watch: NodeJS.Timeout
  #sent = 0
  #acked = 0
  #socket: WebSocket | undefined
  #isOpen = false
  #wasOpen = false
  #isEnded = false
  #problem = ''
  #stop: 'none' | 'wanted' | 'acknowledged' = 'none'
  #signOfLife = performance.now()
  #attempt = 0
  #space = Promise.withResolvers<void>()

  private constructor(url: string, events: LiveEvents) {
    this.#url = url
    this.#events = events
    this.#watch = setInterval(() => {
      if (this.#isOpen && this.#silenceMs > SILENCE_MS) this.#socket?.terminate()
    }, 5000)
  }

  /** Connects to the session at `url`. */
  static connect(url: string, events: LiveEvents): LiveConnection {
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
    this.#kept.push({ bytes, end: this.#sent })
    if (this.#isOpen) this.#sendFrames(bytes)
    if (this.#isEnded || this.#sent - this.#acked < MAX_KEPT_BYTES) return
    this.#space = Promise.withResolvers()
    await this.#space.promise
  }

  /** Ends the audio. */
  stop(): void {
    this.#stop = 'wanted'
    if (this.#isOpen) this.#sendStop()
  }

  /**
   * Disconnects. A server that has received no `stop` then ends the session with the audio it has.
   */
  close(): void {
    this.#end({ code: 1000, reason: '' })
    this.#socket?.close(1000)
  }

  get #silenceMs(): number {
    return performance.now() - this.#signOfLife
  }

  #open({ isFirst }: { isFirst: boolean }): void {
    const address = new URL(this.#url)
    if (!isFirst) address.searchParams.set('offset', String(this.#acked))
    const socket = new WebSocket(address, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    })
    this.#socket = socket
    const noteLife = () => {
      this.#signOfLife = performance.now()
    }
    // The close event that follows explains the error.
    socket.on('error', (error) => {
      this.#problem = error.message
    })
    socket.on('open', () => {
      noteLife()
      this.#begin()
    })
    socket.on('ping', noteLife)
    socket.on('message', (text) => {
      noteLife()
      this.#attempt = 0
      this.#receive(JSON.parse(String(text)) as LiveMessage)
    })
    socket.on('close', (code, reason) => {
      this.#isOpen = false
      if (this.#isEnded) return
      if (isFinal(code)) this.#end({ code, reason: String(reason) })
      else void this.#reconnect(code)
    })
  }

  /** Sends what an earlier connection did not get acknowledged. */
  #begin(): void {
    this.#isOpen = true
    this.#wasOpen = true
    const acked = this.#acked
    for (const { bytes, end } of this.#kept)
      this.#sendFrames(end - acked < bytes.length ? bytes.subarray(acked - end) : bytes)
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
    this.#acked = Math.max(this.#acked, end)
    while (this.#kept[0] && this.#kept[0].end <= this.#acked) this.#kept.shift()
    if (this.#sent - this.#acked < MAX_KEPT_BYTES) this.#space.resolve()
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
    clearInterval(this.#watch)
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

/**
 * Returns whether the server ended the session, well (1000) or not. Any other code is a lost
 * connection.
 */
function isFinal(code: number): boolean {
  return code === 1000 || (code >= 4400 && code <= 4500)
}
