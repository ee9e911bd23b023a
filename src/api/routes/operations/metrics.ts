import { timingSafeEqual } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { sha256 } from '../../auth/check-key.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { createScrape, type ScrapeDeps } from './metrics/scrape.ts'

/**
 * Serves the metrics of this server, for Prometheus. They need no key of the service, but may need
 * a token of their own.
 */
export function metricsRoutes({
  config,
  ...deps
}: Pick<App, 'config'> & ScrapeDeps): FastifyPluginAsyncTypebox {
  const { token } = config.metrics
  const scrape = createScrape(deps)
  const { contentType } = deps.metrics.registry
  const expected = token === undefined ? undefined : sha256(token)
  return async (http) => {
    const metrics = {
      tags: ['Server'],
      security: [],
      operationId: 'getMetrics',
      summary: 'Get the metrics of the server',
      description:
        'Returns the metrics in the text format of Prometheus. Needs no key; when the operator has set a token, ' +
        'send it as `Authorization: Bearer …`.',
      response: {
        200: { description: 'OK', content: { 'text/plain': { schema: Type.String() } } },
        ...(token === undefined ? {} : errorResponses(401)),
      },
    }
    http.get('/metrics', { schema: metrics }, async ({ headers, log }, reply) => {
      if (expected) requireToken(headers.authorization, expected)
      const text = await scrape(log)
      return reply.type(contentType).header('cache-control', 'no-store').send(text)
    })
  }
}

/**
 * Throws `key_missing` or `key_unknown` unless a request has the token. It compares hashes, so that
 * the duration reveals nothing about the token.
 */
function requireToken(authorization: string | undefined, expected: Buffer): void {
  if (authorization === undefined) {
    throw new AppError('key_missing', 'the metrics token is missing')
  }
  const [, token = ''] = /^bearer +(.*)$/i.exec(authorization) ?? []
  if (timingSafeEqual(sha256(token), expected)) return
  throw new AppError('key_unknown', 'it is not the metrics token')
}
