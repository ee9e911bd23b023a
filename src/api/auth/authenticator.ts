import type { FastifyRequest } from 'fastify'
import type { App } from '../../app/server-parts.ts'
import { AppError } from '../../errors.ts'
import { isOpenAiPath } from '../openai/errors.ts'
import { createAuthenticate, createFindKey, type Key, sha256 } from './auth.ts'
import { clientAddressOf, networkOf } from './client-address.ts'
import { createRateLimit } from './rate-limit.ts'
import { createSignIns, type SignIns } from './sign-in.ts'

/** What admission needs of a request, and the log of it that then names the account. */
export type AdmittedRequest = Pick<FastifyRequest, 'headers' | 'raw' | 'log'> & {
  routeOptions: Pick<FastifyRequest['routeOptions'], 'url'>
}

/** A key, with the id by which logs and reports show it. */
export type AdmittedKey = Key & { id: string }

/** Admits a request by its key or its cookie, or rejects. */
export type Admit = (request: AdmittedRequest) => Promise<AdmittedKey>

/** Admits requests, and signs browsers in. */
export type Authenticator = {
  admit: Admit
  /** Whether a request that was admitted would be again: its key or sign-in may have ended. */
  isStillAllowed(request: AdmittedRequest): Promise<boolean>
  /** Finds the key that `find` yields, or whose hash it does; a failure counts as a wrong key. */
  identify(request: AdmittedRequest, find: () => Promise<Key | Buffer>): Promise<AdmittedKey>
  signIns: SignIns
}

type Parts = Pick<App, 'config' | 'storage' | 'log' | 'metrics'>

/**
 * Creates the functions that find the key of each request and count the request against the limit
 * of that key. Wrong keys count against a limit of the client address: a client that tries many has
 * to wait, while right keys from the same address, such as an office, still work. A missing key is
 * not an attempt, so it does not count. A key in a header goes before a cookie.
 */
export function createAuthenticator(app: Parts): Authenticator {
  const { http, keys } = app.config
  const findKey = createFindKey(app)
  const authenticate = createAuthenticate({ ...app, findKey })
  const signIns = createSignIns({ ...app, findKey })
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

  function count(request: AdmittedRequest, key: Key): AdmittedKey {
    const { account, prefix: id = configuredIds.get(key.hash)! } = key
    request.log = request.log.child({ account, keyId: id })
    takeToken?.(key.hash)
    return { ...key, id }
  }

  function find({ headers, raw, routeOptions }: AdmittedRequest): Promise<Key> {
    // OpenAI's API is for programs; a socket of it could not carry the token of a browser.
    const takesBearer = isOpenAiPath(routeOptions.url ?? '')
    const hasKey = http.authHeaderNames.some((name) => headers[name] !== undefined)
    const isBrowser = !hasKey && !takesBearer && signIns.isSignedIn(raw)
    return isBrowser ? signIns.admit(raw) : authenticate(headers, { takesBearer })
  }

  return {
    signIns,
    async admit(request) {
      const found = find(request)
      return count(request, await found.catch((error) => refuse(error, request)))
    },
    async isStillAllowed(request) {
      try {
        await find(request)
        return true
      } catch (error) {
        if (error instanceof AppError && error.status === 401) return false
        throw error
      }
    },
    async identify(request, find) {
      const found = find().then((key) => (Buffer.isBuffer(key) ? findKey(key) : key))
      return count(request, await found.catch((error) => refuse(error, request)))
    },
  }
}
