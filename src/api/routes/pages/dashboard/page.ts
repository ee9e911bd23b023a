import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../../config/config.ts'
import { hasSignInCookie } from '../../../auth/sign-in.ts'
import { sendAboutPage } from './about-page.ts'
import { readDashboardPage } from './page-files.ts'

/** The text in the built page that is replaced by the nonce of its styles. */
const NONCE_PLACEHOLDER = 'STYLE_NONCE'
/**
 * The text there that is replaced by whether the browser may be signed in, which the page then
 * checks.
 */
const SIGN_IN_PLACEHOLDER = 'SIGNED_IN'

/**
 * Returns whether a request accepts HTML, as those of browsers do; programs do not name that type.
 */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

/** Sends the dashboard or, if it is not built, a page that says so. It needs no key. */
export async function sendDashboard(
  request: FastifyRequest,
  reply: FastifyReply,
  { http }: Pick<Config, 'http'>,
): Promise<FastifyReply> {
  const page = await readDashboardPage()
  if (page === undefined) return sendAboutPage(request, reply, { http, isBuilt: false })
  const nonce = randomBytes(16).toString('base64url')
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('content-security-policy', pagePolicy(nonce, http))
    .header(
      'permissions-policy',
      'camera=(), geolocation=(), microphone=(self), display-capture=(self)',
    )
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept')
    .header('x-robots-tag', 'noindex, nofollow')
    .header('x-content-type-options', 'nosniff')
    .send(
      page
        .replace(NONCE_PLACEHOLDER, nonce)
        .replace(SIGN_IN_PLACEHOLDER, hasSignInCookie(request.raw) ? 'maybe' : 'no'),
    )
}

/**
 * Returns the policy for what the page may load: files of this server only, and only styles with
 * the nonce, which the waveform adds to the page.
 */
function pagePolicy(nonce: string, { publicBaseUrl, publicWsBaseUrl }: Config['http']): string {
  const otherOrigins = [publicBaseUrl, publicBaseUrl?.replace(/^http/, 'ws'), publicWsBaseUrl]
  const origins = otherOrigins.filter((url) => url !== undefined).map((url) => new URL(url).host)
  const sockets = [...new Set(origins)].flatMap((host) => [`ws://${host}`, `wss://${host}`])
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "media-src 'self' blob:",
    ["connect-src 'self'", ...sockets].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
