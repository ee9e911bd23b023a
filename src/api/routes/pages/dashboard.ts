import type { FastifyPluginAsync } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { sendAboutPage } from './dashboard/about-page.ts'
import { readAsset } from './dashboard/page-files.ts'

/** A year, in seconds: the name of a file changes with its content. */
const MAX_AGE = 31_536_000

/** The API description omits pages for people. */
const schema = { hide: true } as object

/**
 * Serves the files that the dashboard at `/` loads, and a page about the server. Neither needs a
 * key.
 */
export function dashboardRoutes({ config }: Pick<App, 'config'>): FastifyPluginAsync {
  return async (http) => {
    http.get('/about', { schema }, async (request, reply) => {
      return sendAboutPage(request, reply, { http: config.http, isBuilt: true })
    })
    http.get<{ Params: { name: string } }>(
      '/dashboard/:name',
      { schema },
      async (request, reply) => {
        const acceptEncoding = String(request.headers['accept-encoding'] ?? '')
        const file = await readAsset(request.params.name, { acceptEncoding })
        if (!file) throw new AppError('route_not_found', request.url.split('?', 1)[0])
        if (file.encoding) reply.header('content-encoding', file.encoding)
        return reply
          .type(file.type)
          .header('cache-control', `public, max-age=${MAX_AGE}, immutable`)
          .header('vary', 'accept-encoding')
          .header('x-content-type-options', 'nosniff')
          .send(file.content)
      },
    )
  }
}
