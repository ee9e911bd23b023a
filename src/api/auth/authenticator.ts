import type { FastifyRequest } from 'fastify'
import type { App } from '../../app/app-type.ts'
import { AppError } from '../../errors.ts'
import { createRateLimit } from '../middleware/rate-limit.ts'
import { isOpenAiPath } from '../openai/errors.ts'
import { createAuthenticate, createFindKey, type Key, sha256 } from './check-key.ts'
import { clientAddressOf, networkOf } from './client-address.ts'
import { createSignIns, type SignIns } from './sign-in.ts'

/** The parts of a request that authentication reads, and its log, which gets the account. */
export type AuthRequest = Pick<FastifyRequest, 'headers' | 'raw' | 'log'> & {
  routeOptions: Pick<FastifyRequest['routeOptions'], 'url'>
}

/** A key, with the id that logs and reports contain. */
export type AuthenticatedKey = Key & { id: string }

/** Authenticates a request by its key or cookie; rejects if it has no valid one. */
export type Authenticate = (request: AuthRequest) => Promise<AuthenticatedKey>

/** Authenticates requests, and signs browsers in. */
export type Authenticator = {
  authenticate: Authenticate
  /** Returns whether the key or the sign-in of an authenticated request is still valid. */
  isStillAllowed(request: AuthRequest): Promise<boolean>
  /**
   * Returns the key that `findKeyOrHash` resolves to, or the key with the hash that it resolves to.
   * A failure counts as a wrong key.
   */
  identify(
    request: AuthRequest,
    findKeyOrHash: () => Promise<Key | Buffer>,
  ): Promise<AuthenticatedKey>
  signIns: SignIns
}

type Deps = Pick<App, 'config' | 'storage' | 'log' | 'metrics'>

/**
 * Creates the functions that find the key of each request and count the request against the limit
 * of that key. Wrong keys count against a limit of the client address: a client that tries many has
 * to wait, while valid keys from the same address, such as that of an office, still work. A missing
 * key is not an attempt, so it does not count. A key in a header takes precedence over a cookie.
 */
export function createAuthenticator(app: Deps): Authenticator {
  const { http, keys } = app.config
  const findKey = createFindKey(app)
  const authenticateHeaders = createAuthenticate({ ...app, findKey })
  const signIns = createSignIns({ ...app, findKey })
  const takeToken = http.rateLimit && createRateLimit(http.rateLimit)
  const takeFailureToken =
    http.authFailureLimit &&
    createRateLimit(http.authFailureLimit, {
      subject: 'with wrong keys from one address',
      setting: 'STENO_AUTH_FAILURE_LIMIT',
    })
  const configuredIdEntries = keys.map(({ key }, i) => [
    sha256(key).toString('hex'),
    `settings-${i + 1}`,
  ])
  const configuredIds = new Map(configuredIdEntries as [string, string][])

  function refuse(error: unknown, request: AuthRequest): never {
    if (!(error instanceof AppError) || error.status !== 401) throw error
    app.metrics.authFailures.inc({ reason: error.code })
    if (error.code !== 'key_missing')
      takeFailureToken?.(networkOf(clientAddressOf(request.raw, http)))
    throw error
  }

  function countRequest(request: AuthRequest, key: Key): AuthenticatedKey {
    const { account, prefix: id = configuredIds.get(key.hash)! } = key
    request.log = request.log.child({ account, keyId: id })
    takeToken?.(key.hash)
    return { ...key, id }
  }

  function findRequestKey({ headers, raw, routeOptions }: AuthRequest): Promise<Key> {
    // OpenAI's API is for programs. A socket of it cannot carry the CSRF token of a browser.
    const takesBearer = isOpenAiPath(routeOptions.url ?? '')
    const hasKey = http.authHeaderNames.some((name) => headers[name] !== undefined)
    const isBrowser = !hasKey && !takesBearer && signIns.isSignedIn(raw)
    return isBrowser ? signIns.authenticate(raw) : authenticateHeaders(headers, { takesBearer })
  }

  return {
    signIns,
    async authenticate(request) {
      const keyLookup = findRequestKey(request)
      return countRequest(request, await keyLookup.catch((error) => refuse(error, request)))
    },
    async isStillAllowed(request) {
      try {
        await findRequestKey(request)
        return true
      } catch (error) {
        if (error instanceof AppError && error.status === 401) return false
        throw error
      }
    },
    async identify(request, findKeyOrHash) {
      const keyLookup = findKeyOrHash().then((key) => (Buffer.isBuffer(key) ? findKey(key) : key))
      return countRequest(request, await keyLookup.catch((error) => refuse(error, request)))
    },
  }
}
