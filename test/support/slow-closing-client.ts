import { WebSocket } from 'ws'
import { audioChunk, type Closed } from './live-client.ts'
import type { LiveMessage } from './live-messages.ts'

/** A pause before another attempt when a handshake failed: the server may be starting. */
const RETRY_MS = 20

export type SlowClosingOptions = {
  url: string
  /** All that it has to send. */
  stream: Buffer
  random: () => number
  /**
   * What comes again after a reconnection: all that no ack covers, at once and before anything is read,
   * in frames of so many bytes as the SDK of the public service does it (512 KiB there), or in one.
   */
  resend: number | 'one frame'
  /** Bytes of each chunk, beginning with `first`. */
  chunkBytes: () => number
  first?: readonly number[]
  /** Bytes that it lets go without an ack; a client that does not look at them has no end of them. */
  window?: number
  /** So many of its first connections are lost together with all that the server says on them after a while. */
  deafs?: number
  /** Sends `stop_recording` at the end, unless it is to be left open. */
  stops?: boolean
  /** After each message, of which nobody else knows yet. */
  onMessage?: (message: LiveMessage, count: number) => void
}

/** What such a client has heard, over all its connections. */
export type ReceivedMessages = {
  texts: string[]
  messages: LiveMessage[]
  /** Where acks did not go on at the byte and the second at which the one before had ended. */
  gaps: string[]
  /** How its connections ended, in order. */
  closes: Closed[]
  /** Bytes that were acknowledged. */
  acked: number
}

export type SlowClosingClient = ReceivedMessages & {
  /** Resolves when it was told not to come back. */
  ended: Promise<ReceivedMessages>
  /** It gives up without a word. */
  leave(): void
}

/**
 * Sends a whole stream to a session, mixing both forms of audio and empty chunks, and comes back for as
 * long as it is not told that the session has ended. Acknowledged bytes it forgets.
 */
export function startSlowClosingClient(options: SlowClosingOptions): SlowClosingClient {
  const { url, stream, random, resend, chunkBytes, window = Number.POSITIVE_INFINITY } = options
  const { stops = true, onMessage } = options
  const first = [...(options.first ?? [])]
  const heard: ReceivedMessages = { texts: [], messages: [], gaps: [], closes: [], acked: 0 }
  const { promise: ended, resolve } = Promise.withResolvers<ReceivedMessages>()
  let sent = 0
  let ackedTime = 0
  let current: WebSocket | undefined
  let isLeft = false
  let deafs = options.deafs ?? 0

  function open(): void {
    if (isLeft) return
    const options = { perMessageDeflate: false, handshakeTimeout: 10_000, autoPong: false }
    const socket = new WebSocket(url, options)
    current = socket
    let wasOpen = false
    let hasStopped = false
    let hears = deafs-- > 0 ? Math.floor(10 * random()) : Number.POSITIVE_INFINITY

    function pump(): void {
      if (socket.readyState !== WebSocket.OPEN) return
      // A few at a time: connections are to be cut between chunks, too.
      for (let i = 0; i < 8 && sent < stream.length && sent - heard.acked < window; i++) {
        if (random() < 0.03) send(socket, Buffer.alloc(0))
        const bytes = Math.min(first.shift() ?? chunkBytes(), stream.length - sent)
        send(socket, stream.subarray(sent, sent + bytes))
        sent += bytes
      }
      if (sent === stream.length && stops && !hasStopped) {
        hasStopped = true
        socket.send('{"type":"stop_recording"}')
      } else if (sent < stream.length && sent - heard.acked < window) {
        setImmediate(pump)
      }
    }

    socket.on('error', () => {})
    socket.on('ping', (question) => {
      if (hears >= 0) socket.pong(question)
    })
    socket.on('open', () => {
      wasOpen = true
      const step = resend === 'one frame' ? stream.length : resend
      for (let at = heard.acked; at < sent; at += step) {
        send(socket, stream.subarray(at, Math.min(sent, at + step)))
      }
      if (Number.isFinite(hears)) setTimeout(() => socket.terminate(), 60 * random())
      pump()
    })
    socket.on('message', (data) => {
      if (--hears < 0) return
      const text = String(data)
      const message = JSON.parse(text) as LiveMessage
      heard.texts.push(text)
      heard.messages.push(message)
      if (message.type === 'audio_chunk' && message.acknowledged) {
        const { byte_range, time_range } = message.data
        if (byte_range[0] !== heard.acked || time_range[0] !== ackedTime) {
          heard.gaps.push(`${byte_range} (${time_range}) behind ${heard.acked} (${ackedTime})`)
        }
        heard.acked = byte_range[1]
        ackedTime = time_range[1]
        if (Number.isFinite(window)) pump()
      }
      onMessage?.(message, heard.messages.length)
    })
    socket.on('close', (said, reason) => {
      const code = hears < 0 ? 1006 : said
      heard.closes.push({ code, reason: String(reason) })
      if (code === 1000 || code === 1001 || (code >= 4400 && code < 4500)) resolve(heard)
      else setTimeout(open, wasOpen ? 0 : RETRY_MS)
    })
  }

  function send(socket: WebSocket, bytes: Buffer): void {
    if (random() < 0.5) socket.send(bytes)
    else socket.send(JSON.stringify(audioChunk(bytes)))
  }

  open()
  return Object.assign(heard, {
    ended,
    leave() {
      isLeft = true
      current?.terminate()
    },
  })
}
