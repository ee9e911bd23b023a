import { WebSocket } from 'ws'
import { audioChunk, type Closed } from './live-client.ts'
import type { LiveMessage } from './live-messages.ts'

/** A pause before another attempt after a failed handshake: the server may be starting. */
const RETRY_MS = 20

export type ReconnectingClientOptions = {
  url: string
  /** All bytes that it has to send. */
  stream: Buffer
  random: () => number
  /**
   * The size of the frames in which it resends all unacknowledged audio after a reconnection, at
   * once and before it reads anything: a number of bytes, as the SDK of the public service does it
   * (512 KiB there), or a single frame.
   */
  resend: number | 'one frame'
  /** Returns the bytes of each chunk; the first chunks have the sizes of `first`. */
  chunkBytes: () => number
  first?: readonly number[]
  /** Maximum bytes that it sends without an ack; unlimited for a client that ignores acks. */
  window?: number
  /**
   * How many of its first connections are lost after a while, together with all messages of the
   * server on them.
   */
  lostConnections?: number
  /** Whether it sends `stop_recording` at the end. */
  stops?: boolean
  /** Called after each message, before any other code knows it. */
  onMessage?: (message: LiveMessage, count: number) => void
}

/** The messages that such a client received, over all its connections. */
export type ReceivedMessages = {
  texts: string[]
  messages: LiveMessage[]
  /** Where an ack did not continue at the byte and the second at which the one before had ended. */
  gaps: string[]
  /** How its connections ended, in order. */
  closes: Closed[]
  /** The number of acknowledged bytes. */
  acked: number
}

export type ReconnectingClient = ReceivedMessages & {
  /** Resolves when it must not reconnect. */
  ended: Promise<ReceivedMessages>
  /** Gives up silently. */
  leave(): void
}

/**
 * Sends a whole stream to a session, mixing both forms of audio and empty chunks, and reconnects
 * until it is notified that the session has ended. It drops acknowledged bytes.
 */
export function startReconnectingClient(options: ReconnectingClientOptions): ReconnectingClient {
  const { url, stream, random, resend, chunkBytes, window = Number.POSITIVE_INFINITY } = options
  const { stops = true, onMessage } = options
  const first = [...(options.first ?? [])]
  const received: ReceivedMessages = { texts: [], messages: [], gaps: [], closes: [], acked: 0 }
  const { promise: ended, resolve } = Promise.withResolvers<ReceivedMessages>()
  let sent = 0
  let ackedTime = 0
  let current: WebSocket | undefined
  let isLeft = false
  let lostConnections = options.lostConnections ?? 0

  function open(): void {
    if (isLeft) return
    const settings = { perMessageDeflate: false, handshakeTimeout: 10_000, autoPong: false }
    const socket = new WebSocket(url, settings)
    current = socket
    let wasOpen = false
    let hasStopped = false
    let messagesUntilLoss =
      lostConnections-- > 0 ? Math.floor(10 * random()) : Number.POSITIVE_INFINITY

    function pump(): void {
      if (socket.readyState !== WebSocket.OPEN) return
      // A few at a time, so that connections are also cut between chunks.
      for (let i = 0; i < 8 && sent < stream.length && sent - received.acked < window; i++) {
        if (random() < 0.03) send(socket, Buffer.alloc(0))
        const bytes = Math.min(first.shift() ?? chunkBytes(), stream.length - sent)
        send(socket, stream.subarray(sent, sent + bytes))
        sent += bytes
      }
      if (sent === stream.length && stops && !hasStopped) {
        hasStopped = true
        socket.send('{"type":"stop_recording"}')
      } else if (sent < stream.length && sent - received.acked < window) {
        setImmediate(pump)
      }
    }

    socket.on('error', () => {})
    socket.on('ping', (question) => {
      if (messagesUntilLoss >= 0) socket.pong(question)
    })
    socket.on('open', () => {
      wasOpen = true
      const step = resend === 'one frame' ? stream.length : resend
      for (let at = received.acked; at < sent; at += step) {
        send(socket, stream.subarray(at, Math.min(sent, at + step)))
      }
      if (Number.isFinite(messagesUntilLoss)) setTimeout(() => socket.terminate(), 60 * random())
      pump()
    })
    socket.on('message', (data) => {
      if (--messagesUntilLoss < 0) return
      const text = String(data)
      const message = JSON.parse(text) as LiveMessage
      received.texts.push(text)
      received.messages.push(message)
      if (message.type === 'audio_chunk' && message.acknowledged) {
        const { byte_range, time_range } = message.data
        if (byte_range[0] !== received.acked || time_range[0] !== ackedTime) {
          received.gaps.push(`${byte_range} (${time_range}) after ${received.acked} (${ackedTime})`)
        }
        received.acked = byte_range[1]
        ackedTime = time_range[1]
        if (Number.isFinite(window)) pump()
      }
      onMessage?.(message, received.messages.length)
    })
    socket.on('close', (closeCode, reason) => {
      const code = messagesUntilLoss < 0 ? 1006 : closeCode
      received.closes.push({ code, reason: String(reason) })
      if (code === 1000 || code === 1001 || (code >= 4400 && code < 4500)) resolve(received)
      // A client that a failed test has left does not keep its process.
      else setTimeout(open, wasOpen ? 0 : RETRY_MS).unref()
    })
  }

  function send(socket: WebSocket, bytes: Buffer): void {
    if (random() < 0.5) socket.send(bytes)
    else socket.send(JSON.stringify(audioChunk(bytes)))
  }

  open()
  return Object.assign(received, {
    ended,
    leave() {
      isLeft = true
      current?.terminate()
    },
  })
}
