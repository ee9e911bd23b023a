import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { WebSocket } from 'ws'
import type { App } from '../../../../app/app-type.ts'
import { AppError } from '../../../../errors.ts'
import { ABNORMAL_CLOSURE, closeCodes } from '../../../../live/connection/close-codes.ts'
import type { Connection, ConnectOptions } from '../../../../live/connection/connection.ts'
import type { FrameScheduler } from '../../../../live/input/frame-scheduler.ts'
import type { SessionNode } from '../../../../live/sessions/nodes/placement.ts'
import { clientAddressOf } from '../../../auth/client-address.ts'
import { sendClientError } from '../../../middleware/errors.ts'
import { newRequestId, requestIdLines } from '../../../middleware/request-id.ts'
import { withoutLeadingSlashes } from '../../../responses/urls.ts'
import { FORWARDED_HEADER, forwardSocket, type Upgrade } from './forward-socket.ts'
import {
  closeSocket,
  createSocketServer,
  isHandshake,
  openSocket,
  serveConnection,
} from './serve-connection.ts'

/**
 * Returns whether `createLiveSocketServer` handles a request: all other upgrade requests are
 * answered as if they did not ask for an upgrade.
 */
export function isLiveUpgrade({ method, url = '', headers }: IncomingMessage): boolean {
  const [path] = withoutLeadingSlashes(url).split('?', 1)
  const isPath = path === '/v2/live' || path === '/v2/live/'
  return method === 'GET' && isPath && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Connects sockets and live sessions: passes frames to the session and its messages to the client.
 * It decides only how large a frame may be and whether a client is still alive.
 */
export function createLiveSocketServer(
  http: FastifyInstance,
  { config, live, log }: LiveSocketDeps,
  scheduler: FrameScheduler,
): void {
  const { maxFrameBytes, resumeFrameBytes } = config.live
  const standardServer = createSocketServer({ maxPayload: maxFrameBytes })
  const resumedServer = createSocketServer({
    maxPayload: Math.max(maxFrameBytes, resumeFrameBytes),
  })

  async function acceptUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    { head, requestId }: { head: Buffer; requestId: string },
  ): Promise<void> {
    const ignore = () => {}
    socket.on('error', ignore) // The client may disconnect while its session is looked up.
    const address = clientAddressOf(request, config.http)
    const ids = { requestId, address }
    const connection = await connectHere({ live, log }, { request, socket, head }, ids)
    socket.off('error', ignore)
    if (connection === 'forwarded') return
    if (connection === ABNORMAL_CLOSURE) return void socket.destroy()
    const isResumed = typeof connection !== 'number' && connection.isResumed
    const refuse = (webSocket: WebSocket, code: number) => {
      log.info({ requestId, address, code }, 'client refused')
      closeSocket(webSocket, code)
    }
    let isOpen = false
    const socketServer = isResumed ? resumedServer : standardServer
    const lines = requestIdLines(requestId, config.http)
    openSocket(socketServer, { request, socket, head, lines }, (webSocket) => {
      isOpen = true
      // Broken or too large frames: the socket closes by itself, with the matching code.
      webSocket.on('error', () => {})
      if (typeof connection === 'number') refuse(webSocket, connection)
      else serveConnection({ webSocket, socket, connection, scheduler, maxFrameBytes })
    })
    if (!isOpen && typeof connection !== 'number') connection.socketClosed(ABNORMAL_CLOSURE)
  }

  http.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isLiveUpgrade(request)) return
    if (!socket.writable) return // Refused, because too many requests wait.
    if (!isHandshake(request)) {
      const error = new AppError('request_unreadable', 'the WebSocket handshake is not valid')
      const [path = ''] = (request.url ?? '').split('?', 1)
      return sendClientError(error, socket as Socket, { ...config.http, path })
    }
    const requestId = newRequestId()
    acceptUpgrade(request, socket, { head, requestId }).catch((error: unknown) => {
      log.error({ err: error, requestId }, 'cannot open a live socket')
      socket.destroy()
    })
  })
}

/** Connects here, or passes the socket on to the node that runs the session. */
async function connectHere(
  deps: Pick<LiveSocketDeps, 'live' | 'log'>,
  upgrade: Upgrade,
  ids: { requestId: string; address: string },
): Promise<Connection | number | 'forwarded'> {
  const avoid: string[] = []
  const signal = watchDisconnect(upgrade.socket)
  for (;;) {
    const connection = await connect(upgrade.request, { ...ids, avoid, signal }, deps)
    if (typeof connection === 'number' || !('nodeId' in connection)) return connection
    if (signal.aborted) return ABNORMAL_CLOSURE
    const { jobId, nodeId, url } = connection
    if (await forwardSocket(upgrade, { url, address: ids.address })) {
      const cut = () => upgrade.socket.destroy()
      upgrade.socket.once('close', deps.live.forwarded.add({ jobId, nodeId, cut }))
      return 'forwarded'
    }
    deps.log.warn(
      { ...ids, nodeId, url },
      'another node does not respond, its session continues elsewhere',
    )
    avoid.push(nodeId)
  }
}

/**
 * Returns a signal that aborts when the client disconnects: a node that stood still may find
 * requests of clients that have long connected elsewhere. Only a socket that is read reports its
 * end; what the client sends stays in its buffer.
 */
function watchDisconnect(socket: Duplex): AbortSignal {
  const disconnected = new AbortController()
  for (const event of ['end', 'close']) socket.once(event, () => disconnected.abort())
  socket.read(0)
  return disconnected.signal
}

async function connect(
  { url = '', headers }: IncomingMessage,
  { signal, ...ids }: Required<Pick<ConnectOptions, 'requestId' | 'address' | 'avoid' | 'signal'>>,
  { live, log }: Pick<LiveSocketDeps, 'live' | 'log'>,
): Promise<Connection | SessionNode | number> {
  const query = new URL(url, 'http://localhost').searchParams
  const offsetText = query.get('offset')
  if (offsetText !== null && !/^\d{1,15}$/.test(offsetText)) return closeCodes.misuse
  try {
    const offset = offsetText === null ? undefined : Number(offsetText)
    const isForwarded = FORWARDED_HEADER in headers
    return await live.connect(query.get('token') ?? '', { offset, isForwarded, signal, ...ids })
  } catch (error) {
    log.error({ err: error, ...ids }, 'cannot connect to a live session')
    return closeCodes.internalError
  }
}

type LiveSocketDeps = Pick<App, 'config' | 'live' | 'log'>
