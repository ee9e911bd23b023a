import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { closeCodes } from '../../../live/connection/close-codes.ts'
import { Connection } from '../../../live/connection/connection.ts'
import type { FrameScheduler } from '../../../live/input/frame-scheduler.ts'
import type { AuthenticatedKey, Authenticator, AuthRequest } from '../../auth/authenticator.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import { requireScope } from '../../auth/scopes.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { toValidRequest } from '../../bodies/submission/to-submission.ts'
import { newRequestId, requestIdLines } from '../../middleware/request-id.ts'
import { withoutLeadingSlashes } from '../../responses/urls.ts'
import {
  FORWARDED_HEADER,
  forwardSocket,
  type Upgrade,
} from '../../routes/live/sockets/forward-socket.ts'
import {
  createSocketServer,
  isHandshake,
  openSocket,
  serveConnection,
} from '../../routes/live/sockets/serve-connection.ts'
import { toOpenAiError } from '../errors.ts'
import { type ClientSecrets, isClientSecret } from './client-secrets.ts'
import { RealtimeConnection } from './realtime-connection.ts'
import type { RealtimeSettings } from './session-settings.ts'

/** The subprotocol that contains the key, because browsers cannot send headers. */
const KEY_PROTOCOL = 'openai-insecure-api-key.'
const BETA_PROTOCOL = 'openai-beta.realtime-v1'
/** Maximum open sockets of an account; most have a session. */
const MAX_SOCKETS = 200

/** The dependencies of the sockets, besides the app. */
export type RealtimeDeps = {
  bodies: BodyReader
  authenticator: Authenticator
  clientSecrets: ClientSecrets
  scheduler: FrameScheduler
}

type RealtimeServerDeps = Pick<App, 'config' | 'live' | 'log'> & RealtimeDeps

/** Returns whether `createRealtimeSocketServer` handles a request. */
export function isRealtimeUpgrade({ method, url = '', headers }: IncomingMessage): boolean {
  const path = withoutLeadingSlashes(url).split('?', 1)[0]!.replace(/\/$/, '')
  const isPath = path === '/v1/realtime'
  return method === 'GET' && isPath && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Serves OpenAI's realtime transcription over WebSocket, with live sessions of this server. */
export function createRealtimeSocketServer(http: FastifyInstance, app: RealtimeServerDeps): void {
  const { config, log, scheduler } = app
  const { maxFrameBytes } = config.live
  const sockets = createSocketServer({
    maxPayload: maxFrameBytes,
    chooseProtocol: (offered) => (offered.has('realtime') ? 'realtime' : false),
  })
  const connections = new Set<RealtimeConnection>()

  async function acceptUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    { head, requestId }: { head: Buffer; requestId: string },
  ): Promise<void> {
    if (!isHandshake(request)) {
      throw new AppError('request_unreadable', 'the WebSocket handshake is not valid')
    }
    const ignore = () => {}
    socket.on('error', ignore)
    const url = '/v1/realtime'
    const headers = withProtocolKey(request)
    const caller = { headers, raw: request, routeOptions: { url }, log: log as FastifyBaseLogger }
    const { settings, ...key } = await findKey(caller, app)
    requireScope(key.scopes, { method: 'POST', route: '/v2/live' })
    const address = clientAddressOf(request, config.http)
    if (await forwardElsewhere(app, { request, socket, head }, { requestId, address })) return
    const connectionCount = [...connections].filter(({ account }) => account === key.account).length
    if (connectionCount >= MAX_SOCKETS) {
      throw new AppError('too_many_sessions', `${connectionCount} sockets are open already`)
    }
    socket.off('error', ignore)
    const ids = { requestId, address }
    const connection = new RealtimeConnection({
      account: key.account,
      version: isBeta(request) ? 'beta' : 'ga',
      settings,
      check: (body) => checkSession(app, key.account, body),
      open: (body) => openSession(app, body, key, ids),
    })
    const lines = requestIdLines(requestId, config.http)
    openSocket(sockets, { request, socket, head, lines }, (webSocket) => {
      connections.add(connection)
      webSocket.once('close', () => connections.delete(connection))
      webSocket.on('error', () => {})
      serveConnection({ webSocket, socket, connection, scheduler, maxFrameBytes })
    })
  }

  // A session itself notifies its client that the server stops.
  http.addHook('preClose', async () => {
    for (const connection of connections)
      if (!connection.hasSession) connection.end(closeCodes.restart)
  })
  http.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isRealtimeUpgrade(request) || !socket.writable) return
    const requestId = newRequestId()
    acceptUpgrade(request, socket, { head, requestId }).catch((error: unknown) => {
      const appError = error instanceof AppError ? error : new AppError('internal')
      log.info({ requestId, code: appError.code }, 'client refused')
      refuse(socket, appError, requestIdLines(requestId, config.http))
    })
  })
}

/**
 * Passes the socket on to a node that has live sessions, if this one has none. Resolves to whether
 * it did.
 */
async function forwardElsewhere(
  { live, log }: Pick<RealtimeServerDeps, 'live' | 'log'>,
  upgrade: Upgrade,
  ids: { requestId: string; address: string },
): Promise<boolean> {
  if (FORWARDED_HEADER in upgrade.request.headers) return false
  const avoid: string[] = []
  for (;;) {
    const node = await live.admission.findOtherNode(avoid)
    if (!node && avoid.length === 0) return false
    if (!node) throw new AppError('live_unavailable', 'no node of this server runs them')
    if (await forwardSocket(upgrade, { url: node.url, address: ids.address })) return true
    if (!upgrade.socket.writable) return true
    log.warn({ ...ids, ...node }, 'another node does not respond, the client goes to the next')
    avoid.push(node.nodeId)
  }
}

/** Rejects if no live session can be created from the body. */
export async function checkSession(
  { live, bodies }: Pick<RealtimeServerDeps, 'live' | 'bodies'>,
  account: string,
  body: object,
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body))
  live.requireModel(toValidRequest(await bodies.read('live', { account, body: bytes })))
}

/** Opens the live session of a socket, and connects to it. */
async function openSession(
  { live, log, bodies }: RealtimeServerDeps,
  body: object,
  { account, hash, id }: AuthenticatedKey,
  ids: { requestId: string; address: string },
): Promise<Connection> {
  const bytes = Buffer.from(JSON.stringify(body))
  const submission = toValidRequest(await bodies.read('live', { account, body: bytes }))
  const session = await live.create(account, { ...submission, keyHash: hash, keyId: id })
  log.info({ ...ids, sessionId: session.id }, 'live session created')
  const connection = await live.connect(session.token, { ...ids, isForwarded: true })
  if (connection instanceof Connection) return connection
  throw new AppError('live_unavailable', `the session refused the connection (${connection})`)
}

/** Finds the key of a request, or that of a client secret, with the settings of its session. */
async function findKey(
  authRequest: AuthRequest,
  { authenticator, clientSecrets }: Pick<RealtimeDeps, 'authenticator' | 'clientSecrets'>,
): Promise<AuthenticatedKey & { settings?: RealtimeSettings }> {
  const secret = /^Bearer +(\S+)$/i.exec(authRequest.headers.authorization ?? '')?.[1]
  if (!secret || !isClientSecret(secret)) return authenticator.authenticate(authRequest)
  let settings: RealtimeSettings | undefined
  const key = await authenticator.identify(authRequest, async () => {
    const holder = await clientSecrets.find(secret)
    settings = holder.settings
    return holder.keyHash
  })
  return { ...key, ...(settings && { settings }) }
}

function withProtocolKey({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const offered = protocolsOf(headers).find((name) => name.startsWith(KEY_PROTOCOL))
  if (!offered) return headers
  return { ...headers, authorization: `Bearer ${offered.slice(KEY_PROTOCOL.length)}` }
}

function isBeta({ headers }: IncomingMessage): boolean {
  const header = String(headers['openai-beta'] ?? '')
  return header.includes('realtime=v1') || protocolsOf(headers).includes(BETA_PROTOCOL)
}

function protocolsOf(headers: IncomingMessage['headers']): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
}

function refuse(socket: Duplex, error: AppError, lines: readonly string[]): void {
  const body = JSON.stringify(toOpenAiError(error))
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-error-code: ${error.code}`,
    ...lines,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
