import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { App } from '../../server-parts.ts'
import { isOpenAiPath } from '../openai/errors.ts'
import { createAuthenticate, type Key, sha256 } from './auth.ts'
import { clientAddressOf, networkOf } from './client-address.ts'
import { createRateLimit } from './rate-limit.ts'

/** What admission needs of a request, and the log of it that then names the account. */
export type AdmittedRequest = Pick<FastifyRequest, 'headers' | 'raw' | 'log'> & {
  routeOptions: Pick<FastifyRequest['routeOptions'], 'url'>
}

/** Admits a request by its key, or rejects. */
export type Admit = (request: AdmittedRequest) => Promise<Key>

type Parts = Pick<App, 'config' | 'storage' | 'log' | 'metrics'>

/**
 * Creates a function that finds the key of each request and counts the request against the limit of
 * that key. Wrong keys count against a limit of the client address: a client that tries many has to
 * wait, while right keys from the same address, such as an office, still work. A missing key is not
 * an attempt, so it does not count.
 */
export function createAdmission(app: Parts): Admit {
  const { http, keys } = app.config
  const authenticate = createAuthenticate(app)
  const takeToken = http.rateLimit && createRateLimit(http.rateLimit)
  const takeTry =
    http.authFailureLimit &&
    createRateLimit(http.authFailureLimit, { of: 'with wrong keys from one address' })
  const configured = keys.map(({ key }, i) => [sha256(key).toString('hex'), `settings-${i + 1}`])
  const configuredIds = new Map(configured as [string, string][])

  function refuse(error: unknown, request: AdmittedRequest): never {
    if (!(error instanceof AppError) || error.status !== 401) throw error
    app.metrics.authFailures.inc({ reason: error.code })
    if (error.code !== 'key_missing') takeTry?.(networkOf(clientAddressOf(request.raw, http)))
    throw error
  }

  return async (request) => {
    const takesBearer = isOpenAiPath(request.routeOptions.url ?? '')
    const key = await authenticate(request.headers, { takesBearer }).catch((error) =>
      refuse(error, request),
    )
    const { account, prefix = configuredIds.get(key.hash) } = key
    request.log = request.log.child({ account, keyId: prefix })
    takeToken?.(key.hash)
    return key
  }
}
