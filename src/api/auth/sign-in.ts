import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { App } from '../../app/app-type.ts'
import { DAY_MS, wallNow } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import {
  consumeLink,
  deleteSignIn,
  deleteSignInsOfKey,
  findSignIn,
  insertSignIn,
} from '../../storage/accounts/sign-ins.ts'
import { baseUrlOf, originOf } from '../responses/urls.ts'
import { type FindKey, type Key, sha256 } from './check-key.ts'

const COOKIE = 'steno_sign_in'
/** How long the sign-in of a browser is valid. */
const SIGN_IN_MS = 14 * DAY_MS
/** How long a sign-in link is valid. */
const LINK_MS = DAY_MS
/** Methods that do not change anything. */
const SAFE_METHODS = new Set(['GET', 'HEAD'])

type Deps = Pick<App, 'config' | 'storage'> & { findKey: FindKey; now?: () => number }

/** The response to a sign-in. Its secret is in the cookie only. */
export type SignInState = {
  key: Key
  /** Milliseconds since 1970. */
  expiresAt: number
  /**
   * The value that requests which change something must send as `x-csrf-token`. Other sites cannot
   * read it.
   */
  csrfToken: string
}

/** Signs browsers in and out, and authenticates their requests. */
export type SignIns = ReturnType<typeof createSignIns>

/**
 * Creates the sign-ins of browsers. A cookie holds 256 random bits. The database stores their hash
 * and the key whose rights they give. A sign-in ends when its key does.
 */
export function createSignIns({
  config: { http },
  storage: { db },
  findKey,
  now = Date.now,
}: Deps) {
  async function find(request: IncomingMessage): Promise<SignInState & { hash: string }> {
    const secret = cookieOf(request)
    if (secret === undefined) throw new AppError('key_missing', 'nobody is signed in')
    requireSameOrigin(request, http)
    const hash = sha256(secret).toString('hex')
    const signIn = await findSignIn(db, hash, { now: now() })
    if (!signIn) throw new AppError('sign_in_ended', 'it has expired or was ended')
    const key = await findKey(Buffer.from(signIn.keyHash, 'hex'))
    return { hash, key, expiresAt: signIn.expiresAt, csrfToken: csrfTokenOf(secret) }
  }

  return {
    /** Signs a browser in; resolves to the response and the cookie to set. */
    async signIn(key: Key, request: IncomingMessage): Promise<SignInState & { cookie: string }> {
      const secret = randomBytes(32).toString('base64url')
      const at = now()
      const expiresAt = at + SIGN_IN_MS
      const signIn = { hash: sha256(secret).toString('hex'), keyHash: key.hash, expiresAt }
      await insertSignIn(db, { ...signIn, kind: 'browser' }, { now: at })
      const cookie = cookieText(secret, { maxAge: SIGN_IN_MS / 1000, request, http })
      return { key, expiresAt, csrfToken: csrfTokenOf(secret), cookie }
    },

    /** Returns the key of a link, which then is no longer valid; rejects with `sign_in_ended`. */
    async consumeLink(secret: string): Promise<Key> {
      const keyHash = await consumeLink(db, sha256(secret).toString('hex'), { now: now() })
      if (!keyHash) throw new AppError('sign_in_ended', 'the link was used or has expired')
      return findKey(Buffer.from(keyHash, 'hex'))
    },

    /** Returns whether a request has the cookie of a sign-in. */
    isSignedIn: hasSignInCookie,

    find,

    /** Returns the key of a request. A request that changes something needs the CSRF token, too. */
    async authenticate(request: IncomingMessage): Promise<Key> {
      const { key, csrfToken } = await find(request)
      if (!SAFE_METHODS.has(request.method!)) requireCsrfToken(request, csrfToken)
      return key
    },

    /**
     * Ends a sign-in, or all sign-ins with its key; resolves to the cookie that removes the old
     * one.
     */
    async signOut(
      request: IncomingMessage,
      { everywhere }: { everywhere: boolean },
    ): Promise<string> {
      const { hash, key, csrfToken } = await find(request)
      requireCsrfToken(request, csrfToken)
      if (everywhere) await deleteSignInsOfKey(db, key.hash)
      else await deleteSignIn(db, hash)
      return cookieText('', { maxAge: 0, request, http })
    },
  }
}

/** Creates the secret of a link that signs one browser in with a key, within a day. */
export async function createLink({ db }: Pick<App['storage'], 'db'>, key: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  const now = wallNow()
  const hashes = { hash: sha256(secret).toString('hex'), keyHash: sha256(key).toString('hex') }
  await insertSignIn(db, { ...hashes, kind: 'link', expiresAt: now + LINK_MS }, { now })
  return secret
}

/** Returns whether a request has the cookie of a sign-in, which may have ended. */
export function hasSignInCookie(request: IncomingMessage): boolean {
  return cookieOf(request) !== undefined
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const pair = pairs.find((cookie) => cookie.startsWith(`${COOKIE}=`))
  return pair?.slice(COOKIE.length + 1) || undefined
}

type CookieOptions = { maxAge: number; request: IncomingMessage; http: Config['http'] }

/**
 * Returns the cookie header. Its path is the prefix of the proxy, so that other services of the
 * host do not get the cookie.
 */
function cookieText(secret: string, { maxAge, request, http }: CookieOptions): string {
  const base = new URL(baseUrlOf(request, http))
  const path = base.pathname.replace(/\/$/, '') || '/'
  const secure = base.protocol === 'https:' ? '; Secure' : ''
  return `${COOKIE}=${secret}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`
}

function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url')
}

function requireCsrfToken({ headers }: IncomingMessage, expected: string): void {
  const csrfHash = sha256(String(headers['x-csrf-token'] ?? ''))
  if (timingSafeEqual(csrfHash, sha256(expected))) return
  throw new AppError('request_forged', 'the header x-csrf-token lacks the token of the sign-in')
}

/**
 * Throws `request_forged` if a browser states that another origin makes the request. Another port
 * of the host is another origin, although it gets the same cookies. Schemes are not compared,
 * because a proxy may end TLS.
 */
export function requireSameOrigin(request: IncomingMessage, http: Config['http']): void {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = request.headers
  const hosts = [originOf(request, http), baseUrlOf(request, http)].map((url) => new URL(url).host)
  const isSameOrigin =
    origin === undefined || (URL.canParse(origin) && hosts.includes(new URL(origin).host))
  if (isSameOrigin && (site === 'same-origin' || site === 'none')) return
  throw new AppError('request_forged', `it comes from ${origin ?? 'another site'}`)
}
