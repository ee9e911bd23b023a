import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Connection } from '../../live/connection.ts'
import type { FrameScheduler } from '../../live/input/frame-scheduler.ts'
import type { Upgrade } from './forward-socket.ts'

/**
 * Interval of pings; a client that does not answer one for as long is disconnected.
 */
const PING_MS = 20_000
/** With more unsent bytes than this, the next message waits. */
const MAX_UNSENT_BYTES = 256 * 1024
/** A client that does not answer a close is cut off after this many further frames. */
const MAX_FRAMES_AFTER_CLOSE = 1000

/** The reasons of close codes; clients show them. */
const reasons: Record<number, string> = {
  1009: 'frame too large',
  1011: 'internal error',
  1012: 'server restarts, connect again',
  1013: 'server overloaded, or too much unread: connect again later',
  4400: 'protocol misuse',
  4401: 'token or key unknown or expired',
  4408: 'session limit',
  4409: 'replaced by a newer connection',
  4410: 'session ended',
  4500: 'session failed',
}

/** Clients send a frame whole, or in a few parts; ten thousand tiny ones only cost memory. */
const MAX_FRAGMENTS = 64
/** A client that does not answer a close is cut off after this time. */
const CLOSE_TIMEOUT_MS = 5000

/** How sockets are opened: the longest frame, and the choice among the subprotocols of a client. */
export type SocketServerOptions = {
  maxPayload: number
  chooseProtocol?: (offered: Set<string>) => string | false
}

/**
 * Creates the part that turns upgrade requests into sockets. By default it speaks no subprotocol.
 */
export function createSocketServer({ maxPayload, chooseProtocol }: SocketServerOptions) {
  const limits = { maxPayload, maxFragments: MAX_FRAGMENTS, closeTimeout: CLOSE_TIMEOUT_MS }
  const handleProtocols = chooseProtocol ?? (() => false as const)
  // One frame per turn of the event loop: a socket may receive ten thousand frames at once.
  const pace = { allowSynchronousEvents: false }
  const handshake = { noServer: true, perMessageDeflate: false, handleProtocols }
  return new WebSocketServer({ ...handshake, ...limits, ...pace })
}

/** Turns an upgrade request into a socket; `lines` are added to the head of the response. */
export function openSocket(
  server: WebSocketServer,
  { request, socket, head, lines }: Upgrade & { lines: readonly string[] },
  use: (webSocket: WebSocket) => void,
): void {
  const add = (headers: string[]) => void headers.push(...lines)
  server.on('headers', add)
  server.handleUpgrade(request, socket, head, use)
  server.off('headers', add)
}

/**
 * Returns whether a request is a handshake (RFC 6455, 4.2.1) that the server of sockets accepts: a
 * session must not change for one that it refuses.
 */
export function isHandshake({ headers }: IncomingMessage): boolean {
  const version = headers['sec-websocket-version'] ?? ''
  const key = headers['sec-websocket-key'] ?? ''
  return ['8', '13'].includes(version) && /^[+/\dA-Za-z]{22}==$/.test(key)
}

/** What a socket is served from. */
export type SocketConnection = Pick<
  Connection,
  | 'account'
  | 'closeCode'
  | 'end'
  | 'isResumed'
  | 'socketClosed'
  | 'messages'
  | 'receive'
  | 'markDelivered'
  | 'whenReadable'
>

/** A client and the parts that serve it. */
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
  const { webSocket, connection, scheduler, maxFrameBytes } = options
  let isFirst = true
  let afterClose = 0
  const heartbeat = watchHeartbeat(webSocket, connection)

  function handle(data: Uint8Array, isBinary: boolean): Promise<void> | undefined {
    const mayBeLong = isFirst && connection.isResumed
    isFirst = false
    if (data.length > maxFrameBytes && !mayBeLong) {
      connection.end(1009)
      return undefined
    }
    connection.receive(data, isBinary)
    return connection.whenReadable()
  }

  const queue = scheduler.open(connection.account, {
    handle: ({ data, isBinary }) => (data ? handle(data, isBinary) : undefined),
    onFull() {
      webSocket.pause()
      heartbeat.pause()
    },
    onFree() {
      webSocket.resume()
      heartbeat.resume()
    },
  })
  function push(data: Buffer | undefined, isBinary: boolean): void {
    if (connection.closeCode === undefined) queue.push({ data, isBinary })
    else if (++afterClose > MAX_FRAMES_AFTER_CLOSE) webSocket.terminate()
  }
  webSocket.on('message', (data: RawData, isBinary) => push(data as Buffer, isBinary))
  for (const control of ['ping', 'pong']) webSocket.on(control, () => push(undefined, false))
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
  onSent: (number: number) => void,
): Promise<void> {
  let isCorked = false
  // Sends everything from one turn of the event loop together: a client of small frames gets many
  // responses.
  function cork(): void {
    if (isCorked) return
    isCorked = true
    socket.cork()
    setImmediate(() => {
      isCorked = false
      socket.uncork()
    })
  }
  for await (const { text, sequence: number } of connection.messages()) {
    if (webSocket.readyState !== webSocket.OPEN) break
    const sent = Promise.withResolvers<void>()
    cork()
    webSocket.send(text, () => sent.resolve())
    if (number !== undefined) onSent(number)
    if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) await sent.promise
  }
  closeSocket(webSocket, connection.closeCode ?? 1011)
}

/**
 * Checks that the client is alive, which also shows which messages have arrived: a client answers a
 * ping after everything that was sent before it.
 */
function watchHeartbeat(webSocket: WebSocket, connection: SocketConnection) {
  let [sent, seen] = [0, 0]
  let isPaused = false
  let deadline: NodeJS.Timeout | undefined
  const isRequested = () => deadline !== undefined

  function ping(): void {
    if (isRequested() || isPaused || webSocket.readyState !== webSocket.OPEN) return
    deadline = setTimeout(() => webSocket.terminate(), PING_MS)
    webSocket.ping(String(sent))
  }
  function clearDeadline(): void {
    clearTimeout(deadline)
    deadline = undefined
  }

  const beat = setInterval(ping, PING_MS)
  webSocket.on('pong', (data) => {
    // An unsolicited pong proves nothing; nor does one with a number that was not sent.
    if (!isRequested()) return
    clearDeadline()
    const number = Number(data.toString())
    if (number > seen && number <= sent) {
      seen = number
      connection.markDelivered(number)
    }
    if (sent > seen) ping()
  })
  return {
    onSent(number: number): void {
      sent = number
      ping()
    },
    /** A client whose socket is not read cannot answer. */
    pause(): void {
      isPaused = true
      clearDeadline()
    },
    resume(): void {
      isPaused = false
      ping()
    },
    stop(): void {
      clearInterval(beat)
      clearDeadline()
    },
  }
}

/** Closes with a code that may be sent; 1005 and 1006 only mean that none was received. */
export function closeSocket(webSocket: WebSocket, code: number): void {
  const isSendable = code >= 1000 && code !== 1005 && code !== 1006
  webSocket.close(isSendable ? code : 1011, reasons[code])
}
