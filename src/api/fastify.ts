import type { IncomingMessage as RawRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import Fastify, { LogController } from 'fastify'
import type { App } from '../app/app-type.ts'
import type { Config } from '../config/config.ts'
import { AppError } from '../errors.ts'
import type { Log } from '../observability/log.ts'
import { clientAddressOf } from './auth/client-address.ts'
import { drainBody } from './bodies/receiving/drain-body.ts'
import { acceptJson } from './bodies/receiving/json-body.ts'
import { rejectEarly } from './bodies/receiving/reject-early.ts'
import { endSilentConnections } from './bodies/receiving/silent-connections.ts'
import { watchBodies } from './bodies/receiving/slow-bodies.ts'
import { refuseSmallChunks } from './bodies/receiving/small-chunks.ts'
import { parseQuery } from './lists/parse-query.ts'
import { compileQueryReader } from './lists/query-reader.ts'
import { sendClientError, sendError } from './middleware/errors.ts'
import { observeRequests } from './middleware/observe-requests.ts'
import { type PipelineQueue, serializePipelinedRequests } from './middleware/pipelined-requests.ts'
import { newRequestId } from './middleware/request-id.ts'
import { requestLog } from './middleware/request-log.ts'
import { closeConnectionsOnStop } from './middleware/shutdown.ts'
import { isRealtimeUpgrade } from './openai/realtime/realtime-socket.ts'
import { requireHost, withoutLeadingSlashes } from './responses/urls.ts'
import { isLiveUpgrade } from './routes/live/sockets/live-socket.ts'

/**
 * The time in which a request must arrive: the largest upload at 2.3 Mbit/s. A slower request only
 * wastes resources.
 */
const REQUEST_TIMEOUT_MS = 3_600_000
/**
 * Headers arrive in one or a few packets. By default, Node checks for late ones only every half
 * minute.
 */
const HEADER_TIMEOUTS = { headersTimeout: 20_000, connectionsCheckingInterval: 5000 }
/**
 * Longer than proxies keep an idle connection for reuse: nginx one minute, Traefik 90 s, Caddy two
 * minutes. If the server closes it first, a request that is under way fails with 502.
 */
const IDLE_TIMEOUT_MS = 130_000
/** A connection without traffic for this long is dead. */
const SILENCE_TIMEOUT_MS = 300_000

/** The parts that every request needs, whatever its route. */
export type ServerDeps = Pick<App, 'config' | 'log' | 'metrics' | 'tracing'>

/**
 * Creates the Fastify instance of the API, without routes. It gives each request an id, returns
 * errors in one form on all paths, reads JSON bodies, and refuses work during shutdown.
 */
export function createFastify(app: ServerDeps): FastifyInstance {
  const { config } = app
  const idHeaders = ['x-request-id', ...config.http.requestIdHeaderNames]
  const refuse = (socket: Socket, problem: string) => {
    const error = new AppError('request_unreadable', problem)
    sendClientError(error, socket, config.http)
  }
  const ChunkLimitedRequest = refuseSmallChunks((socket) => {
    refuse(socket, 'the chunks of its body are too small')
  })
  const pipelineQueue = serializePipelinedRequests(ChunkLimitedRequest)
  const http = newFastify(app, { pipelineQueue, idHeaders })
  observeRequests(http, app)
  const isStopping = closeConnectionsOnStop(http)
  endSilentConnections(http.server)
  pipelineQueue.handle(http.server, (socket) =>
    refuse(socket, 'too many requests wait on one connection'),
  )
  // By default, Node would close the connection silently.
  http.server.on('connect', (_request, socket: Socket) =>
    refuse(socket, 'this server is not a proxy'),
  )
  // An unknown expectation in a header is not a reason to refuse a request.
  http.server.on('checkExpectation', (request, response) => http.routing(request, response))

  http.setValidatorCompiler(compileQueryReader)
  // Responses are built to match their schemas, and tests compare them with the published schemas.
  // Serialization does not remove fields.
  http.setSerializerCompiler(() => JSON.stringify)
  acceptJson(http, { maxBytes: config.http.maxJsonBytes, setting: 'STENO_MAX_JSON_BYTES' })
  http.setErrorHandler<FastifyError>(async (error, request, reply) => {
    if (!request.account && !request.raw.complete) return rejectEarly(error, request, reply)
    await drainBody(request.raw)
    return sendError(error, request, reply)
  })
  checkRequests(http, { config, idHeaders, isStopping })
  http.addHook('onResponse', ({ log, method, routeOptions }, reply, done) => {
    const fields = { method, route: routeOptions.url, status: reply.statusCode }
    log.info({ ...fields, ms: Math.round(reply.elapsedTime) }, 'answered')
    done()
  })
  return http
}

type FastifyDeps = { pipelineQueue: PipelineQueue; idHeaders: string[] }

function newFastify(
  { config, log }: ServerDeps,
  { pipelineQueue, idHeaders }: FastifyDeps,
): FastifyInstance {
  return Fastify({
    loggerInstance: log.child({ module: 'api' }) as FastifyBaseLogger,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: newRequestId,
    requestIdHeader: false,
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery },
    rewriteUrl: ({ url = '/' }) => withoutLeadingSlashes(url),
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SILENCE_TIMEOUT_MS,
    // The default responses of Node and Fastify do not have the form of API errors.
    http: {
      ...HEADER_TIMEOUTS,
      requireHostHeader: false,
      shouldUpgradeCallback: (request: RawRequest) =>
        pipelineQueue.isFull(request.socket) ||
        isLiveUpgrade(request) ||
        isRealtimeUpgrade(request),
      IncomingMessage: pipelineQueue.IncomingMessage,
    },
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    childLoggerFactory: (logger, bindings, _options, raw) => {
      const address = clientAddressOf(raw as RawRequest, config.http)
      return requestLog(logger as Log, { ...bindings, address })
    },
    return503OnClosing: false,
    clientErrorHandler(error, socket) {
      sendClientError(error, socket, config.http)
    },
    frameworkErrors(error, request, reply) {
      setRequestId(reply, request.id, idHeaders)
      sendError(error, request, reply)
    },
  })
}

type RequestChecks = {
  config: Config
  idHeaders: readonly string[]
  isStopping: () => boolean
}

/**
 * Adds a hook that runs before the route of each request: it sets the request id in the response,
 * limits the time of the body, and checks the host.
 */
function checkRequests(http: FastifyInstance, checks: RequestChecks): void {
  const { config, idHeaders, isStopping } = checks
  const bodyWatch = watchBodies(http.server)
  http.addHook('onRequest', (request, reply, done) => {
    const { id, raw, routeOptions } = request
    setRequestId(reply, id, idHeaders)
    lowerUuids(request.params as Record<string, string>)
    bodyWatch.add(raw, () => Boolean(request.account))
    // Probes and scrapers near the server may use any host name; their responses do not contain
    // URLs.
    const isProbe = ['/health', '/ready', '/metrics'].includes(routeOptions.url ?? '')
    requireHost(raw, isProbe ? { ...config.http, allowedHosts: [] } : config.http)
    if (isStopping() && routeOptions.url !== '/health') throw new AppError('server_stopping')
    done()
  })
}

/** Lower-cases the UUIDs in a path: case has no meaning in them, and Swift writes capitals. */
function lowerUuids(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)) params[name] = value.toLowerCase()
  }
}

function setRequestId(reply: FastifyReply, id: string, headers: readonly string[]): void {
  for (const name of headers) reply.header(name, id)
}
