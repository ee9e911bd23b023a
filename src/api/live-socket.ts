import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Connection } from '../live/connection.ts'
import { FrameTurns } from '../live/input/frame-turns.ts'
import type { App } from '../server-parts.ts'
import { clientAddressOf } from './auth/client-address.ts'
import { newRequestId } from './request-id.ts'

/**
 * Interval of pings; a client that does not answer one for as long is disconnected (contract 5.11).
 */
const PING_MS = 20_000
/** With more unsent bytes than this, the next message waits. */
const MAX_UNSENT_BYTES = 256 * 1024
/** Clients send a frame whole, or in a few parts; ten thousand tiny ones only cost memory. */
const MAX_FRAGMENTS = 64
/**
 * A client that does not answer a close is cut off after this time, or after this many further
 * frames.
 */
const CLOSE_TIMEOUT_MS = 5000
const MAX_FRAMES_AFTER_CLOSE = 1000

/** The reasons of close codes; clients show them. */
const reasons: Record<number, string> = {
  1009: 'frame too large',
  1011: 'internal error',
  1012: 'server restarts, connect again',
  1013: 'too much unread',
  4400: 'protocol misuse',
  4401: 'token or key unknown or expired',
  4408: 'session limit',
  4409: 'replaced by a newer connection',
  4410: 'session ended',
  4500: 'session failed',
}

/**
 * Returns whether `createLiveSocketServer` handles a request: all other upgrade requests are
 * answered as if they did not ask for an upgrade.
 */
export function isLiveUpgrade({ url = '', headers }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0]
  const isPath = path === '/v2/live' || path === '/v2/live/'
  return isPath && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Connects sockets and live sessions: it passes frames in and messages out, and decides only how
 * large a frame may be and whether a client is still alive.
 */
export function createLiveSocketServer(
  http: FastifyInstance,
  { config, live, log }: LiveSocketParts,
): void {
  const { maxFrameBytes, resumeFrameBytes } = config.live
  const createSocketServer = (maxPayload: number) => {
    const limits = { maxPayload, maxFragments: MAX_FRAGMENTS, closeTimeout: CLOSE_TIMEOUT_MS }
    // The server speaks none of the subprotocols that a client may offer.
    const none = { perMessageDeflate: false, handleProtocols: () => false as const }
    // One frame per turn of the event loop: a socket may receive ten thousand frames at once.
    const pace = { allowSynchronousEvents: false }
    return new WebSocketServer({ noServer: true, ...none, ...limits, ...pace })
  }
  const turns = new FrameTurns()
  const usual = createSocketServer(maxFrameBytes)
  const resumed = createSocketServer(Math.max(maxFrameBytes, resumeFrameBytes))

  async function acceptUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    { head, requestId }: { head: Buffer; requestId: string },
  ): Promise<void> {
    const ignore = () => {}
    socket.on('error', ignore) // The client may disconnect while its session is looked up.
    const address = clientAddressOf(request, config.http)
    const connection = await connect(request, { requestId, address })
    socket.off('error', ignore)
    const isResumed = typeof connection !== 'number' && connection.isResumed
    const refuse = (webSocket: WebSocket, code: number) => {
      log.info({ requestId, address, code }, 'client refused')
      close(webSocket, code)
    }
    let isOpen = false
    const liveSocket = isResumed ? resumed : usual
    liveSocket.handleUpgrade(request, socket, head, (webSocket) => {
      isOpen = true
      // Broken or too large frames: the socket closes by itself, with the matching code.
      webSocket.on('error', () => {})
      if (typeof connection === 'number') refuse(webSocket, connection)
      else serveConnection({ webSocket, socket, connection, turns, maxFrameBytes })
    })
    if (!isOpen && typeof connection !== 'number') connection.lost(1006)
  }

  async function connect(
    { url = '' }: IncomingMessage,
    ids: { requestId: string; address: string },
  ): Promise<Connection | number> {
    const query = new URL(url, 'http://localhost').searchParams
    const offset = query.get('offset')
    if (offset !== null && !/^\d{1,15}$/.test(offset)) return 4400
    try {
      const place = offset === null ? undefined : Number(offset)
      return await live.connect(query.get('token') ?? '', { offset: place, ...ids })
    } catch (error) {
      log.error({ err: error, ...ids }, 'cannot connect to a live session')
      return 1011
    }
  }

  http.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!socket.writable) return // Refused, because too many requests wait.
    const requestId = newRequestId()
    acceptUpgrade(request, socket, { head, requestId }).catch((error: unknown) => {
      log.error({ err: error, requestId }, 'cannot open a live socket')
      socket.destroy()
    })
  })
}

type LiveSocketParts = Pick<App, 'config' | 'live' | 'log'>

/** A client and the parts that serve it. */
type Attendance = {
  webSocket: WebSocket
  /** The underlying socket. */
  socket: Duplex
  connection: Connection
  turns: FrameTurns
  maxFrameBytes: number
}

/** Passes incoming frames to the connection and its messages to the client, until either ends. */
function serveConnection(attendance: Attendance): void {
  const { webSocket, connection, turns, maxFrameBytes } = attendance
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
    return connection.space()
  }

  const line = turns.open(connection.account, {
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
    if (connection.closeCode === undefined) line.push({ data, isBinary })
    else if (++afterClose > MAX_FRAMES_AFTER_CLOSE) webSocket.terminate()
  }
  webSocket.on('message', (data: RawData, isBinary) => push(data as Buffer, isBinary))
  for (const control of ['ping', 'pong']) webSocket.on(control, () => push(undefined, false))
  webSocket.on('close', async (code) => {
    heartbeat.stop()
    // What the client sent before it disconnected is still processed.
    await line.drained()
    line.close()
    connection.lost(code)
  })
  void writeMessages(attendance, heartbeat.onSent).finally(() => line.close())
}

async function writeMessages(
  { webSocket, socket, connection }: Attendance,
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
  for await (const { text, number } of connection.messages()) {
    if (webSocket.readyState !== webSocket.OPEN) break
    const sent = Promise.withResolvers<void>()
    cork()
    webSocket.send(text, () => sent.resolve())
    if (number !== undefined) onSent(number)
    if (webSocket.bufferedAmount > MAX_UNSENT_BYTES) await sent.promise
  }
  close(webSocket, connection.closeCode ?? 1011)
}

/**
 * Checks that the client is alive, which also shows which messages have arrived: a client answers a
 * ping after everything that was sent before it.
 */
function watchHeartbeat(webSocket: WebSocket, connection: Connection) {
  let [sent, seen] = [0, 0]
  let isPaused = false
  let deadline: NodeJS.Timeout | undefined
  const isRequested = () => deadline !== undefined

  function ask(): void {
    if (isRequested() || isPaused || webSocket.readyState !== webSocket.OPEN) return
    deadline = setTimeout(() => webSocket.terminate(), PING_MS)
    webSocket.ping(String(sent))
  }
  function forget(): void {
    clearTimeout(deadline)
    deadline = undefined
  }

  const beat = setInterval(ask, PING_MS)
  webSocket.on('pong', (data) => {
    // An unsolicited pong proves nothing; nor does one with a number that was not sent.
    if (!isRequested()) return
    forget()
    const number = Number(data.toString())
    if (number > seen && number <= sent) {
      seen = number
      connection.seen(number)
    }
    if (sent > seen) ask()
  })
  return {
    onSent(number: number): void {
      sent = number
      ask()
    },
    /** A client whose socket is not read cannot answer. */
    pause(): void {
      isPaused = true
      forget()
    },
    resume(): void {
      isPaused = false
      ask()
    },
    stop(): void {
      clearInterval(beat)
      forget()
    },
  }
}

/** Closes with a code that may be sent; 1005 and 1006 only mean that none was received. */
function close(webSocket: WebSocket, code: number): void {
  const isSendable = code >= 1000 && code !== 1005 && code !== 1006
  webSocket.close(isSendable ? code : 1011, reasons[code])
}
