import type { IncomingMessage as RawRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import Fastify, { LogController } from 'fastify'
import { AppError } from '../errors.ts'
import type { App } from '../server-parts.ts'
import { requireHost } from './answers/urls.ts'
import { clientAddressOf } from './auth/client-address.ts'
import { countedRequests } from './bodies/counted-request.ts'
import { drainBody } from './bodies/drain-body.ts'
import { acceptJson } from './bodies/json-body.ts'
import { refuseUnread } from './bodies/refuse-unread.ts'
import { watchBodies } from './bodies/slow-bodies.ts'
import { answerClientError, sendError } from './errors.ts'
import { parseQuery } from './lists/parse-query.ts'
import { compileQueryReader } from './lists/query.ts'
import { isLiveUpgrade } from './live-socket.ts'
import { answerUnknownRoutes } from './not-found.ts'
import { observeRequests } from './observe-requests.ts'
import { isRealtimeUpgrade } from './openai/realtime/realtime-socket.ts'
import { requestTurns } from './pipelined-requests.ts'
import { newRequestId } from './request-id.ts'

/**
 * The largest upload fits at 2.3 Mbit/s; a request that takes longer to arrive only holds
 * resources.
 */
const REQUEST_TIMEOUT_MS = 3_600_000
/**
 * Headers arrive in one packet or a few. By default, Node checks for late ones every half minute.
 */
const HEADER_TIMEOUTS = { headersTimeout: 20_000, connectionsCheckingInterval: 5000 }
/** Longer than the minute for which most proxies keep an idle connection for reuse. */
const IDLE_TIMEOUT_MS = 72_000
/**
 * During shutdown, a new connection must send something within this time: a request may be on its
 * way.
 */
const FIRST_BYTE_MS = 500
/** A connection without traffic for this long is dead. */
const SILENCE_TIMEOUT_MS = 300_000

/** The parts that every request needs, whatever its route. */
export type ServerParts = Pick<App, 'config' | 'log' | 'metrics' | 'tracing'>

/**
 * Creates the framework instance that the contract requires, before any route: an id for each
 * request, one form for every error on every path, JSON bodies, no work accepted during shutdown.
 */
export function createServer(app: ServerParts): FastifyInstance {
  const { config, log } = app
  const requestIdHeaderNames = ['x-request-id', ...config.http.requestIdHeaderNames]
  const CountedRequest = countedRequests((socket) => {
    const refused = new AppError('request_unreadable', 'its body comes in too small pieces')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  const turns = requestTurns(CountedRequest)
  const http: FastifyInstance = Fastify({
    loggerInstance: log.child({ module: 'api' }) as FastifyBaseLogger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    // The default responses of Node and the framework here lack the body of the contract.
    http: {
      ...HEADER_TIMEOUTS,
      requireHostHeader: false,
      shouldUpgradeCallback: (request: RawRequest) =>
        turns.isFull(request.socket) || isLiveUpgrade(request) || isRealtimeUpgrade(request),
      IncomingMessage: turns.IncomingMessage,
    },
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    childLoggerFactory: (logger, bindings, options, raw) => {
      const address = clientAddressOf(raw as RawRequest, config.http)
      return logger.child({ ...bindings, address }, options)
    },
    return503OnClosing: false,
    clientErrorHandler(error, socket) {
      answerClientError(error, socket, { requestIdHeaderNames })
    },
    frameworkErrors(error, request, reply) {
      nameRequest(request.id, reply)
      sendError(error, request, reply)
    },
  })
  observeRequests(http, app)
  turns.handle(http.server, (socket) => {
    const refused = new AppError('request_unreadable', 'too many requests wait on one connection')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  // By default, Node would close the connection silently.
  http.server.on('connect', (_request, socket: Socket) => {
    const refused = new AppError('request_unreadable', 'this server is no proxy')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  // An unknown expectation is no reason to refuse a request.
  http.server.on('checkExpectation', (request, response) => http.routing(request, response))

  http.setValidatorCompiler(compileQueryReader)
  // Responses are built to their schema, and tests check them against the published one; nothing is
  // stripped here.
  http.setSerializerCompiler(() => JSON.stringify)
  acceptJson(http, { maxBytes: config.http.maxJsonBytes })
  http.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (!request.account && !request.raw.complete) return refuseUnread(error, request, reply)
    await drainBody(request.raw)
    return sendError(error, request, reply)
  })

  function nameRequest(id: string, reply: FastifyReply): void {
    for (const name of requestIdHeaderNames) reply.header(name, id)
  }
  const bodies = watchBodies(http.server)
  http.addHook('onRequest', async (request, reply) => {
    const { id, raw, routeOptions } = request
    nameRequest(id, reply)
    bodies.add(raw, () => Boolean(request.account))
    // Probes and scrapers beside the server may use any host name; their responses contain no URL.
    const isProbe = routeOptions.url === '/health' || routeOptions.url === '/metrics'
    requireHost(raw, isProbe ? { ...config.http, allowedHosts: [] } : config.http)
    if (stopping && routeOptions.url !== '/health') throw new AppError('server_stopping')
  })
  answerUnknownRoutes(http, { config })

  let stopping = false
  const connections = new Set<Socket>()
  http.server.on('connection', (socket) => {
    connections.add(socket)
    // Node takes its own listener off a socket that asks for a tunnel or an upgrade.
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
  })
  http.addHook('preClose', async () => {
    stopping = true
    // Node takes a connection without any bytes for one with a running request.
    setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }, FIRST_BYTE_MS).unref()
  })
  http.addHook('onSend', async (_request, reply) => {
    // A client that keeps its connection for a next request would delay the shutdown.
    if (stopping) reply.header('connection', 'close')
  })
  http.addHook('onResponse', async ({ log, method, routeOptions }, reply) => {
    // A response whose head was sent before the shutdown promised to keep the connection.
    if (stopping) http.server.closeIdleConnections()
    const fields = { method, route: routeOptions.url, status: reply.statusCode }
    log.info({ ...fields, ms: Math.round(reply.elapsedTime) }, 'answered')
  })
  return http
}
