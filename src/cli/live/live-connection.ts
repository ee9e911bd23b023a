import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { LiveMessage } from './live-api-types.ts'

/**
 * How a session ended: the close code of the server, or 1006 when the server became unreachable.
 */
export type LiveEnd = { code: number; reason: string }

/** Callbacks: each message with its arrival time, and each loss of the connection. */
export type LiveEvents = {
  onMessage(message: LiveMessage, at: number): void
  onLost(code: number): void
}

/** A live session over one or more successive connections. */
export type LiveConnection = {
  /**
   * Sends audio. Resolves when there is buffer space for more: at once, unless much is not
   * acknowledged.
   */
  send(bytes: Uint8Array): Promise<void>
  /** Ends the audio. */
  stop(): void
  readonly ended: Promise<LiveEnd>
  /**
   * Disconnects. A server that has received no `stop` then ends the session with the audio it has.
   */
  close(): void
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
 * Connects to a session and keeps audio until it is acknowledged. After a lost connection it
 * reconnects and resumes at the byte behind the last ack: it sends the server that position
 * (`offset`), and the server skips what had arrived after all.
 */
export function connectLive(url: string, { onMessage, onLost }: LiveEvents): LiveConnection {
  const { promise: ended, resolve: finish } = Promise.withResolvers<LiveEnd>()
  const kept: { bytes: Uint8Array; end: number }[] = []
  let given = 0
  let acked = 0
  let socket: WebSocket | undefined
  let isOpen = false
  let wasOpen = false
  let isEnded = false
  let problem = ''
  let stop: 'none' | 'wanted' | 'acknowledged' = 'none'
  let signOfLife = performance.now()
  let attempt = 0
  let room = Promise.withResolvers<void>()

  function open(isFirst: boolean): void {
    const address = new URL(url)
    if (!isFirst) address.searchParams.set('offset', String(acked))
    const own = new WebSocket(address, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
    })
    socket = own
    const noteLife = () => {
      signOfLife = performance.now()
    }
    // The close event that follows explains the error.
    own.on('error', (error) => {
      problem = error.message
    })
    own.on('open', () => {
      noteLife()
      isOpen = true
      wasOpen = true
      for (const { bytes, end } of kept)
        sendFrames(end - acked < bytes.length ? bytes.subarray(acked - end) : bytes)
      if (stop === 'wanted') sendStop()
    })
    own.on('ping', noteLife)
    own.on('message', (text) => {
      noteLife()
      attempt = 0
      receive(JSON.parse(String(text)) as LiveMessage)
    })
    own.on('close', (code, reason) => {
      isOpen = false
      if (isEnded) return
      if (isFinal(code)) end({ code, reason: String(reason) })
      else void comeBack(code)
    })
  }

  function receive(message: LiveMessage): void {
    if (message.type === 'audio_chunk' && message.acknowledged && message.data?.byte_range) {
      acknowledge(message.data.byte_range[1])
    }
    if (message.type === 'stop_recording') stop = 'acknowledged'
    onMessage(message, performance.now())
  }

  function acknowledge(end: number): void {
    acked = Math.max(acked, end)
    while (kept[0] && kept[0].end <= acked) kept.shift()
    if (given - acked < MAX_KEPT_BYTES) room.resolve()
  }

  async function comeBack(code: number): Promise<void> {
    if (wasOpen && attempt === 0) onLost(code)
    if (performance.now() - signOfLife > (wasOpen ? GIVE_UP_MS : FIRST_GIVE_UP_MS)) {
      end({ code: 1006, reason: problem })
      return
    }
    const seconds = RETRY_AFTER[Math.min(attempt++, RETRY_AFTER.length - 1)]!
    if (seconds > 0) await sleep(seconds * 1000)
    if (!isEnded) open(false)
  }

  function end(how: LiveEnd): void {
    clearInterval(watch)
    isEnded = true
    room.resolve()
    finish(how)
  }

  function sendFrames(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
      socket?.send(bytes.subarray(at, at + MAX_FRAME_BYTES))
    }
  }

  function sendStop(): void {
    socket?.send(JSON.stringify({ type: 'stop_recording' }))
  }

  const watch = setInterval(() => {
    if (isOpen && performance.now() - signOfLife > SILENCE_MS) socket?.terminate()
  }, 5000)
  open(true)

  return {
    async send(bytes) {
      given += bytes.length
      kept.push({ bytes, end: given })
      if (isOpen) sendFrames(bytes)
      if (isEnded || given - acked < MAX_KEPT_BYTES) return
      room = Promise.withResolvers()
      await room.promise
    },
    stop() {
      stop = 'wanted'
      if (isOpen) sendStop()
    },
    ended,
    close() {
      end({ code: 1000, reason: '' })
      socket?.close(1000)
    },
  }
}

/**
 * Returns whether the server ended the session, well (1000) or not. Any other code is a lost
 * connection.
 */
function isFinal(code: number): boolean {
  return code === 1000 || (code >= 4400 && code <= 4500)
}
