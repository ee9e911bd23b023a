import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { type ReceiveTimeout, startReceiveTimeout } from '../../../../clock.ts'
import {
  ABNORMAL_CLOSURE,
  closeCodes,
  closeReasons,
  NO_STATUS,
} from '../../../../live/connection/close-codes.ts'
import type { Connection } from '../../../../live/connection/connection.ts'
import type { FrameScheduler } from '../../../../live/input/frame-scheduler.ts'
import type { Upgrade } from './forward-socket.ts'

/**
 * The interval of pings. A client that neither answers a ping nor sends anything else for as long
 * is disconnected.
 */
const PING_MS = 20_000
/** The next message waits while more bytes than this are unsent. */
const MAX_UNSENT_BYTES = 256 * 1024
/** A client that ignores a close is disconnected after this many further frames. */
const MAX_FRAMES_AFTER_CLOSE = 1000

/**
 * Maximum fragments of a message: clients send one or a few, and ten thousand tiny ones only cost
 * memory.
 */
const MAX_FRAGMENTS = 64
/** A client that does not answer a close is disconnected after this time. */
const CLOSE_TIMEOUT_MS = 5000

/** How sockets are opened: the longest frame, and the choice among the subprotocols of a client. */
export type SocketServerOptions = {
  maxPayload: number
  chooseProtocol?: (offered: Set<string>) => string | false
}

/** A socket that gives the reason for its code, also if it closes itself because of a bad frame. */
class ExplainedSocket extends WebSocket {
  override close(code?: number, reason = closeReasons[code ?? NO_STATUS]): void {
    super.close(code, reason)
  }
}

/** Creates the server that accepts upgrade requests. By default it supports no subprotocol. */
export function createSocketServer({ maxPayload, chooseProtocol }: SocketServerOptions) {
  const limits = { maxPayload, maxFragments: MAX_FRAGMENTS, closeTimeout: CLOSE_TIMEOUT_MS }
  const handleProtocols = chooseProtocol ?? (() => false as const)
  // One frame per turn of the event loop: a socket may receive ten thousand frames at once.
  const pacing = { allowSynchronousEvents: false }
  const handshake = { noServer: true, perMessageDeflate: false, handleProtocols }
  const socket = { WebSocket: ExplainedSocket }
  return new WebSocketServer({ ...handshake, ...limits, ...pacing, ...socket })
}

/** Turns an upgrade request into a socket; `lines` are added to the head of the response. */
export function openSocket(
  server: WebSocketServer,
  { request, socket, head, lines }: Upgrade & { lines: readonly string[] },
  onOpen: (webSocket: WebSocket) => void,
): void {
  const addLines = (headers: string[]) => void headers.push(...lines)
  server.on('headers', addLines)
  server.handleUpgrade(request, socket, head, onOpen)
  server.off('headers', addLines)
}

/**
 * Returns whether a request is a handshake (RFC 6455, 4.2.1) that the WebSocket server accepts. A
 * request that it refuses must not change a session.
 */
export function isHandshake({ headers }: IncomingMessage): boolean {
  const version = headers['sec-websocket-version'] ?? ''
  const key = headers['sec-websocket-key'] ?? ''
  return ['8', '13'].includes(version) && /^[+/\dA-Za-z]{22}==$/.test(key)
}

/** The part of a connection that serves a socket. */
export type SocketConnection = Pick<
  Connection,
  | 'account'
  | 'closeCode'
  | 'end'
  | 'isResumed'
  | 'socketClosed'
  | 'messages'
  | 'receive'
  | 'markConfirmed'
  | 'whenReadable'
>

/** The socket of a client, and the parts that serve it. */
export type ServeOptions = {
  webSocket: WebSocket
  /** The underlying socket. */
  socket: Duplex
  connection: SocketConnection
  scheduler: FrameScheduler
  maxFrameBytes: number
}

/** Passes incoming frames to the connection and its messages to the client, until either ends. */
export function serveConnection(options: ServeOptions): void {
  const { webSocket, socket, connection, scheduler, maxFrameBytes } = options
  let isFirst = true
  let framesAfterClose = 0
  const heartbeat = watchHeartbeat(webSocket, connection)

  function handle(data: Uint8Array, isBinary: boolean): Promise<void> | undefined {
    const mayBeLong = isFirst && connection.isResumed
    isFirst = false
    if (data.length > maxFrameBytes && !mayBeLong) {
      connection.end(closeCodes.frameTooLarge)
      return undefined
    }
    connection.receive(data, isBinary)
    return connection.whenReadable()
  }

  const queue = scheduler.open(connection.account, {
    handle: ({ data, isBinary }) => (data ? handle(data, isBinary) : undefined),
    onPause() {
      webSocket.pause()
      heartbeat.pause()
    },
    onResume() {
      webSocket.resume()
      heartbeat.resume()
    },
  })
  function enqueue(data: Buffer | undefined, isBinary: boolean): void {
    if (connection.closeCode === undefined) queue.push({ data, isBinary })
    else if (++framesAfterClose > MAX_FRAMES_AFTER_CLOSE) webSocket.terminate()
  }
  webSocket.on('message', (data: RawData, isBinary) => enqueue(data as Buffer, isBinary))
  for (const control of ['ping', 'pong']) webSocket.on(control, () => enqueue(undefined, false))
  // Over a slow uplink a single frame may take longer than a client has to answer.
  socket.on('data', () => heartbeat.onReceived())
  webSocket.on('close', async (code) => {
    heartbeat.stop()
    // What the client sent before it disconnected is still processed.
    await queue.drained()
    queue.close()
    connection.socketClosed(code)
  })
  void writeMessages(options, heartbeat.onSent).finally(() => queue.close())
}

async function writeMessages(
  { webSocket, socket, connection }: ServeOptions,
  onSent: (sequence: number) => void,
): Promise<void> {
  let isCorked = false
  // Sends all messages of one turn of the event loop together, because a client that sends small
  // frames gets many responses.
  function cork(): void {
    if (isCorked) return
    isCorked = true
    socket.cork()
    setImmediate(() => {
      isCorked = false
      socket.uncork()
    })
  }
  for await (const { text, sequence } of connection.messages()) {
    if (webSocket.readyState !== webSocket.OPEN) break
    const sent = Promise.withResolvers<void>()
    cork()
    webSocket.send(text, () => sent.resolve())
    if (sequence !== undefined) onSent(sequence)
    if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) await sent.promise
  }
  closeSocket(webSocket, connection.closeCode ?? closeCodes.internalError)
}

/**
 * Checks by pings that the client is alive. A pong also shows which messages have arrived, because
 * the client answers a ping after everything that was sent before it. Only one ping at a time waits
 * for its answer: behind much audio the answer comes late, and clients drop a connection that sends
 * them more and more pings.
 */
function watchHeartbeat(webSocket: WebSocket, connection: SocketConnection) {
  let [sent, confirmed] = [0, 0]
  let isPaused = false
  let isRequested = false
  let deadline: ReceiveTimeout | undefined

  function ping(): void {
    if (isRequested || isPaused || webSocket.readyState !== webSocket.OPEN) return
    isRequested = true
    setDeadline()
    webSocket.ping(String(sent))
  }
  function setDeadline(): void {
    deadline = startReceiveTimeout(() => webSocket.terminate(), PING_MS)
  }
  function clearDeadline(): void {
    deadline?.clear()
    deadline = undefined
  }

  const pingTimer = setInterval(ping, PING_MS)
  webSocket.on('pong', (data) => {
    // An unsolicited pong proves nothing; nor does one with a number that was not sent.
    if (!isRequested) return
    isRequested = false
    clearDeadline()
    const sequence = Number(data.toString())
    if (sequence > confirmed && sequence <= sent) {
      confirmed = sequence
      connection.markConfirmed(sequence)
    }
    if (sent > confirmed) ping()
  })
  return {
    onSent(sequence: number): void {
      sent = sequence
      ping()
    },
    /** Extends the time for the answer, which may be queued behind much audio. */
    onReceived(): void {
      deadline?.restart()
    },
    /** Stops waiting for answers while the socket is not read, because none would be seen. */
    pause(): void {
      isPaused = true
      clearDeadline()
    },
    resume(): void {
      isPaused = false
      if (isRequested && !deadline) setDeadline()
      else ping()
    },
    stop(): void {
      clearInterval(pingTimer)
      clearDeadline()
    },
  }
}

/** Closes with a code, or with an internal error if the code must not be sent. */
export function closeSocket(webSocket: WebSocket, code: number): void {
  const isSendable = code >= 1000 && code !== NO_STATUS && code !== ABNORMAL_CLOSURE
  webSocket.close(isSendable ? code : closeCodes.internalError)
}
