import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'

/**
 * Responds with 405 and `Allow` on the paths of the following routes, and with 404 elsewhere. Both
 * responses come before authentication, and before the body is read. A preflight request of a
 * browser gets 204. Must be called before routes are added.
 */
export function handleUnknownRoutes(http: FastifyInstance): void {
  const methods = new Map<string, string[]>()
  http.addHook('onRoute', ({ url, method }) => {
    // The page at `/` is not part of the API: its other methods get 404.
    if (url === '/') return
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()])
  })
  http.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    if (!request.is404) return done()
    const path = request.url.split('?', 1)[0]!
    // A client that writes a letter as %75 means the same path, and so does the router.
    const decoded = decodePath(path)
    const allowed = [...methods].find(([route]) => matchesRoute(route, decoded))?.[1]
    if (!allowed) throw new AppError('route_not_found', path)
    reply.header('allow', [...new Set(allowed)].sort().join(', '))
    // Where origins are configured, `cors.ts` has answered. Without its headers nothing is allowed.
    if (isPreflight(request)) return void reply.code(204).send()
    throw new AppError('method_not_allowed', request.method)
  })
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  const asksFor = headers['access-control-request-method']
  return method === 'OPTIONS' && headers.origin !== undefined && asksFor !== undefined
}

/**
 * Returns whether a path belongs to a route. A parameter such as `:id` matches any non-empty
 * segment; one trailing slash is ignored.
 */
function matchesRoute(route: string, path: string): boolean {
  const expected = route.split('/')
  const segments = path.replace(/\/$/, '').split('/')
  if (expected.length !== segments.length) return false
  return expected.every(
    (part, i) => part === segments[i] || (part.startsWith(':') && segments[i] !== ''),
  )
}

/** Decodes a path except for slashes, which do not separate segments when they are encoded. */
function decodePath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}
