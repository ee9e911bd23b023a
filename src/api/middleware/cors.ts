import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../config/config.ts'

/** How long a browser may remember what it may send, in seconds. */
const MAX_AGE = 600
/** What pages may read beside the usual headers. */
const EXPOSED = [
  'x-request-id',
  'x-error-code',
  'x-steno-warning',
  'retry-after',
  'content-disposition',
  'content-range',
]

/**
 * Lets pages of the configured origins call the API from a browser, with a key in a header:
 * preflight requests are answered on every path. Cookies of a sign-in are not for other origins.
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
    exposedHeaders: [...EXPOSED, ...requestIdHeaderNames],
    // `OPTIONS` without the headers of a preflight is not an error.
    strictPreflight: false,
    maxAge: MAX_AGE,
  })
}
