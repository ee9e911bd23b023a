import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'

/** How long a browser may cache the result of a preflight request, in seconds. */
const MAX_AGE = 600
/** Response headers that pages may read, besides the usual ones. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'x-error-code',
  'x-steno-warning',
  'retry-after',
  'content-disposition',
  'content-range',
]

/**
 * Allows pages of the configured origins to call the API from a browser, with a key in a header.
 * Preflight requests are answered on every path. Other origins cannot use the cookies of a sign-in.
 */
export async function allowOrigins(
  http: FastifyInstance,
  {
    corsOrigins,
    requestIdHeaderNames,
  }: Pick<Config['http'], 'corsOrigins' | 'requestIdHeaderNames'>,
): Promise<void> {
  if (corsOrigins.length === 0) return
  await http.register(cors, {
    origin: corsOrigins.includes('*') ? '*' : corsOrigins,
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [...EXPOSED_HEADERS, ...requestIdHeaderNames],
    // `OPTIONS` without the headers of a preflight is not an error.
    strictPreflight: false,
    maxAge: MAX_AGE,
  })
}
