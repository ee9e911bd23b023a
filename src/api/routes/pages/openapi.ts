import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { pagePolicy, referencePage } from '../../openapi/reference-page.ts'
import { readStaticFile } from '../../responses/files/static-file.ts'
import { Type } from '../../schemas/common/type.ts'
import { FreeObject } from '../../schemas/common/values.ts'

/** Where `npm run build` writes the script of the page. */
const SCRIPT = join(import.meta.dirname, '../../../../reference/dist/scalar.js')
/** A day, in seconds: the script changes only with a new version of the server. */
const SCRIPT_MAX_AGE = 86_400

const publicRoute = { tags: ['Server'], security: [] }

/**
 * Serves the description of this API, for programs and for people. Neither form needs a key or
 * contains a secret.
 */
export function openApiRoutes({ config }: Pick<App, 'config'>): FastifyPluginAsyncTypebox {
  const { publicBaseUrl } = config.http
  const prefix = publicBaseUrl ? new URL(publicBaseUrl).pathname.replace(/\/$/, '') : ''
  const page = referencePage({
    document: `${prefix}/openapi.json`,
    script: `${prefix}/docs/scalar.js`,
  })

  return async (http) => {
    // The document is created for the first request, because that takes as long as the rest of the
    // start of a server.
    let document: string | undefined
    const documentSchema = {
      ...publicRoute,
      operationId: 'getDescription',
      summary: 'Get this OpenAPI description',
      description: 'Returns this description in OpenAPI 3.1. Needs no key.',
      response: { 200: FreeObject(), 304: notModified },
    }
    http.get('/openapi.json', { schema: documentSchema }, async (request, reply) => {
      document ??= JSON.stringify(http.swagger())
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache')
      return sendTagged(request, reply, document)
    })

    const pageSchema = {
      ...publicRoute,
      operationId: 'getReference',
      summary: 'Get the API reference page',
      description: 'Returns the API reference as a web page, with requests to try. Needs no key.',
      response: { 200: textResponse('text/html'), 304: notModified },
    }
    http.get('/docs', { schema: pageSchema }, async (request, reply) => {
      reply
        .type('text/html; charset=utf-8')
        .header('cache-control', 'no-cache')
        .header('content-security-policy', pagePolicy(publicBaseUrl))
        .header('referrer-policy', 'no-referrer')
      return sendTagged(request, reply, page)
    })

    const scriptSchema = {
      ...publicRoute,
      operationId: 'getReferenceScript',
      summary: 'Get the script of the reference page',
      description: 'The API reference page loads this script. Needs no key.',
      response: { 200: textResponse('text/javascript'), 304: notModified },
    }
    http.get('/docs/scalar.js', { schema: scriptSchema }, async (request, reply) => {
      const acceptEncoding = String(request.headers['accept-encoding'] ?? '')
      const file = await readStaticFile(SCRIPT, { acceptEncoding })
      if (!file) throw new AppError('route_not_found', '/docs/scalar.js')
      reply
        .type(file.type)
        .header('cache-control', `public, max-age=${SCRIPT_MAX_AGE}`)
        .header('vary', 'accept-encoding')
      if (file.encoding) reply.header('content-encoding', file.encoding)
      return sendTagged(request, reply, file.content)
    })
  }
}

const notModified = Type.Null({ description: 'The description has not changed' })

function textResponse(mediaType: string) {
  return { description: 'OK', content: { [mediaType]: { schema: Type.String() } } }
}

/** Sends `content` with an ETag computed from it, or 304 if the client already has it. */
function sendTagged(
  request: FastifyRequest,
  reply: FastifyReply,
  content: string | Buffer,
): FastifyReply {
  const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  reply.header('etag', tag).header('x-content-type-options', 'nosniff')
  if (request.headers['if-none-match']?.includes(tag)) return reply.code(304).send()
  return reply.send(content)
}
