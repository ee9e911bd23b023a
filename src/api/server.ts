import type { IncomingMessage as RawRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import Fastify, { LogController } from 'fastify'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
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
import { handleInTurn } from './pipelined-requests.ts'
import { newRequestId } from './request-id.ts'

/** The largest upload fits at 2.3 Mbit/s; a request that takes longer to arrive only holds resources. */
const REQUEST_TIMEOUT_MS = 3_600_000
/** Headers come in one packet or a few. Node looks for late ones every half minute unless it is told otherwise. */
const HEADER_TIMEOUTS = { headersTimeout: 20_000, connectionsCheckingInterval: 5000 }
/** Longer than the minute for which most proxies keep a connection that they may use again. */
const IDLE_TIMEOUT_MS = 72_000
/** While stopping, a connection that was opened must send something within this time: it may be on its way. */
const FIRST_BYTE_MS = 500
/** A connection on which nothing moves for this long is dead. */
const SILENCE_TIMEOUT_MS = 300_000

/** What every request needs, whatever its route. */
export type ServerParts = Pick<App, 'config' | 'log' | 'metrics' | 'tracing'>

/**
 * The framework as the contract wants it, before any route: an id for each request, one form for every
 * error on every path, bodies that are JSON, no work taken while stopping.
 */
export function createServer(app: ServerParts): FastifyInstance {
  const { config, log } = app
  const requestIdHeaderNames = ['x-request-id', ...config.http.requestIdHeaderNames]
  const IncomingMessage = countedRequests((socket) => {
    const refused = new AppError('request_unreadable', 'its body comes in too small pieces')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  const http: FastifyInstance = Fastify({
    loggerInstance: log.child({ room: 'api' }) as FastifyBaseLogger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery },
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    // What Node and the framework answer here by themselves has not the body of the contract.
    http: {
      ...HEADER_TIMEOUTS,
      requireHostHeader: false,
      shouldUpgradeCallback: isLiveUpgrade,
      IncomingMessage,
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
  handleInTurn(http.server, (socket) => {
    const refused = new AppError('request_unreadable', 'too many requests wait on one connection')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  // Node itself would close the connection without a word.
  http.server.on('connect', (_request, socket: Socket) => {
    const refused = new AppError('request_unreadable', 'this server is no proxy')
    answerClientError(refused, socket, { requestIdHeaderNames })
  })
  // An expectation that we do not know is no reason to refuse a request.
  http.server.on('checkExpectation', (request, response) => http.routing(request, response))

  http.setValidatorCompiler(compileQueryReader)
  // What is answered is built to its schema, and tests hold it to the published one; nothing is cut here.
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
    // What checks this server from beside it asks by any name, and is given no address.
    const isProbe = routeOptions.url === '/health' || routeOptions.url === '/metrics'
    requireHost(raw, isProbe ? { ...config.http, allowedHosts: [] } : config.http)
    if (stopping && routeOptions.url !== '/health') throw new AppError('server_stopping')
  })
  answerUnknownRoutes(http)

  let stopping = false
  const connections = new Set<Socket>()
  http.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  http.addHook('preClose', async () => {
    stopping = true
    // Node takes a connection on which nothing came yet for one with a request in hand.
    setTimeout(() => {
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    }, FIRST_BYTE_MS).unref()
  })
  http.addHook('onSend', async (_request, reply) => {
    // A client that keeps its connection for a next request would hold up the end.
    if (stopping) reply.header('connection', 'close')
  })
  http.addHook('onResponse', async ({ log, method, routeOptions }, reply) => {
    // The head of an answer that had begun before the stop promised to keep the connection.
    if (stopping) http.server.closeIdleConnections()
    const fields = { method, route: routeOptions.url, status: reply.statusCode }
    log.info({ ...fields, ms: Math.round(reply.elapsedTime) }, 'answered')
  })
  return http
}
