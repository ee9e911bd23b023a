import { setTimeout as delay } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { audioChunk, type Closed, createInbox, type LiveClient } from './live-client.ts'
import type { LiveMessage } from './live-messages.ts'

/** The largest frame in which an SDK resends audio. */
const RESEND_FRAME_BYTES = 512 * 1024

/** Seconds before each further attempt after a failed handshake; then the client gives up. */
const HANDSHAKE_RETRIES = [0.3, 0.6, 1.2, 2]

/** A client that keeps unacknowledged audio and reconnects when its connection is lost. */
export type ResumingClient = Pick<
  LiveClient,
  'messages' | 'texts' | 'arrivals' | 'waitFor' | 'waitForType' | 'until' | 'stop'
> & {
  /** Sends audio, now or with the next connection. */
  send(bytes: Uint8Array): void
  /** Cuts the current connection, as a lost network does; the client reconnects at once. */
  cut(): void
  /** Ends with a close frame of its own, for good when the code is 1000. */
  close(code?: number): void
  /** How each connection ended so far. */
  readonly closes: readonly Closed[]
  /** Bytes of audio kept because no ack covers them. */
  readonly kept: number
  /** End of the last acknowledged range. */
  readonly acked: number
  /** Resolves when the client has given up or must not reconnect. */
  readonly ended: Promise<Closed>
}

/**
 * Behaves like the SDKs of the public service: it keeps every byte until an ack covers it; on a
 * close with 1002..4399, 4500..9999 or 1006 it reconnects at once and sends all that it keeps, in
 * frames of at most 512 KiB, before it reads anything. It ends on 1000, 1001 and 4400..4499. (An
 * SDK forces `receive_acknowledgments`, which is also the server's default: leave it on.)
 */
export function connectSdkLike(url: string): Promise<ResumingClient> {
  return connectResuming(url, {
    send: (socket, bytes) => socket.send(bytes),
    resend(socket, kept) {
      for (let at = 0; at < kept.length; at += RESEND_FRAME_BYTES) {
        socket.send(kept.subarray(at, at + RESEND_FRAME_BYTES))
      }
    },
  })
}

/**
 * Behaves like a widely used voice-agent client: audio is base64 in JSON frames, and after a
 * reconnection everything that it keeps is one such frame, of many megabytes if need be.
 */
export function connectSingleFrame(url: string): Promise<ResumingClient> {
  const send = (socket: WebSocket, bytes: Uint8Array) => {
    socket.send(JSON.stringify(audioChunk(bytes)))
  }
  return connectResuming(url, {
    send,
    resend(socket, kept) {
      if (kept.length > 0) send(socket, kept)
    },
  })
}

type Manner = {
  send(socket: WebSocket, bytes: Uint8Array): void
  /** Resends the audio that a lost connection may have lost, as soon as the next one is open. */
  resend(socket: WebSocket, kept: Buffer): void
}

async function connectResuming(url: string, manner: Manner): Promise<ResumingClient> {
  const inbox = createInbox(onMessage)
  const { promise: ended, resolve: onEnded } = Promise.withResolvers<Closed>()
  const closes: Closed[] = []
  let kept: Buffer = Buffer.alloc(0)
  let acked = 0
  let isStopped = false
  let socket: WebSocket

  /** Resolves once the connection is open; its end is handled separately. */
  function open(): Promise<void> {
    socket = new WebSocket(url, { perMessageDeflate: false })
    const opened = socket
    return new Promise((resolve, reject) => {
      opened.on('error', reject)
      opened.once('open', () => {
        manner.resend(opened, kept)
        if (isStopped) sendStop()
        opened.once('close', (code, reason) => onClose({ code, reason: String(reason) }))
        resolve()
      })
      opened.on('message', (text) => inbox.add(String(text)))
    })
  }

  function onMessage(message: LiveMessage): void {
    if (message.type !== 'audio_chunk' || !message.acknowledged) return
    const end = message.data.byte_range[1]
    kept = kept.subarray(Math.max(0, end - acked))
    acked = Math.max(acked, end)
  }

  function onClose(closed: Closed): void {
    closes.push(closed)
    if (isFinal(closed.code)) finish(closed)
    else void reopen(closed)
  }

  async function reopen(closed: Closed): Promise<void> {
    for (const seconds of [0, ...HANDSHAKE_RETRIES]) {
      if (seconds > 0) await delay(seconds * 1000)
      const isOpen = await open().then(
        () => true,
        () => false,
      )
      if (isOpen) return
    }
    finish(closed)
  }

  function finish(closed: Closed): void {
    inbox.end(`ended with ${closed.code} ${closed.reason}`)
    onEnded(closed)
  }

  function sendStop(): void {
    socket.send(JSON.stringify({ type: 'stop_recording' }))
  }

  await open()
  return {
    ...inbox.reader,
    send(bytes) {
      kept = Buffer.concat([kept, bytes])
      if (socket.readyState === WebSocket.OPEN) manner.send(socket, bytes)
    },
    stop() {
      isStopped = true
      if (socket.readyState === WebSocket.OPEN) sendStop()
    },
    cut: () => socket.terminate(),
    close: (code = 1000) => socket.close(code),
    closes,
    get kept() {
      return kept.length
    },
    get acked() {
      return acked
    },
    ended,
  }
}

/** Returns whether the SDKs do not reconnect after a code. 1005 is a close frame without a code. */
function isFinal(code: number): boolean {
  return code === 1000 || code === 1001 || (code >= 4400 && code < 4500)
}
