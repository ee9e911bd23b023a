import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import Fastify, { LogController } from 'fastify'
import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import { countedRequests } from './counted-request.ts'
import { drain } from './drain.ts'
import { answerClientError, sendError } from './errors.ts'
import { acceptJson } from './json-body.ts'
import { isLiveUpgrade } from './live-socket.ts'
import { answerUnknownRoutes } from './not-found.ts'
import { observeRequests } from './observe-requests.ts'
import { parseQuery } from './parse-query.ts'
import { compileQueryReader } from './query.ts'
import { newRequestId } from './request-id.ts'
import { isHost } from './urls.ts'

/** The largest upload fits at 2.3 Mbit/s; a request that takes longer to arrive only holds resources. */
const REQUEST_TIMEOUT_MS = 3_600_000
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
    http: { requireHostHeader: false, shouldUpgradeCallback: isLiveUpgrade, IncomingMessage },
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
    await drain(request.raw)
    return sendError(error, request, reply)
  })

  function nameRequest(id: string, reply: FastifyReply): void {
    for (const name of requestIdHeaderNames) reply.header(name, id)
  }
  http.addHook('onRequest', async ({ id, raw, routeOptions }, reply) => {
    nameRequest(id, reply)
    const hosts = raw.headersDistinct.host ?? []
    if (hosts.length === 0 ? raw.httpVersion === '1.1' : hosts.length > 1 || !isHost(hosts[0]!)) {
      throw new AppError('request_unreadable', 'the Host header is missing, twice there or no host')
    }
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
