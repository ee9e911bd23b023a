import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { App } from '../../app/app-type.ts'
import type { TraceSpan } from '../../observability/tracing.ts'

/** The route label of requests without a route, whose paths may be anything. */
const UNKNOWN_ROUTE = 'unknown'

/** Measures and traces all requests, labeled with the pattern of their route. */
export function observeRequests(
  http: FastifyInstance,
  { metrics, tracing }: Pick<App, 'metrics' | 'tracing'>,
): void {
  const spans = new WeakMap<FastifyRequest, TraceSpan>()

  http.addHook('onRequest', (request, _reply, done) => {
    const { id, method, headers } = request
    const route = request.routeOptions.url ?? UNKNOWN_ROUTE
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'steno.request.id': id,
    }
    const { traceparent } = headers
    const span = tracing.start(`${method} ${route}`, attributes, {
      kind: 'server',
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    })
    spans.set(request, span)
    done()
  })

  http.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const { statusCode: status } = reply
    const route = request.routeOptions.url ?? UNKNOWN_ROUTE
    metrics.httpRequestSeconds.observe({ method, route, status }, reply.elapsedTime / 1000)
    const span = spans.get(request)
    span?.set({ 'http.response.status_code': status })
    span?.end(status >= 500 ? new Error(String(status)) : undefined)
    done()
  })
}
