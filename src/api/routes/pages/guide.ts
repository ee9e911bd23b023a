import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { AppError } from '../../../errors.ts'
import { readStaticFile } from '../../responses/files/static-file.ts'

/** Where `npm run build` writes the documentation. */
const FOLDER = join(import.meta.dirname, '../../../../guide/dist')
/**
 * Five minutes, in seconds: the content of a file changes with the version of the server, its name
 * does not.
 */
const MAX_AGE = 300
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The API description omits pages for people. */
const schema = { hide: true } as object

/** Serves the documentation of this version. It needs no key. */
export function guideRoutes(): FastifyPluginAsync {
  return async (http) => {
    http.get('/guide', { schema }, async ({ url }, reply) => {
      // The redirect is relative, so that it works behind a proxy under any path.
      const isFolder = url.split('?', 1)[0]!.endsWith('/')
      return reply.redirect(isFolder ? 'index.html' : 'guide/index.html')
    })
    http.get<{ Params: { '*': string } }>('/guide/*', { schema }, async (request, reply) => {
      const name = request.params['*']
      const acceptEncoding = String(request.headers['accept-encoding'] ?? '')
      const isName = /^(?:[\w-]+\/)?[\w-]+\.\w+$/.test(name)
      const file = isName && (await readStaticFile(join(FOLDER, name), { acceptEncoding }))
      if (!file) throw new AppError('route_not_found', request.url.split('?', 1)[0])
      if (file.encoding) reply.header('content-encoding', file.encoding)
      return reply
        .type(file.type)
        .header('cache-control', `public, max-age=${MAX_AGE}`)
        .header('content-security-policy', POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('vary', 'accept-encoding')
        .header('x-content-type-options', 'nosniff')
        .send(file.content)
    })
  }
}
