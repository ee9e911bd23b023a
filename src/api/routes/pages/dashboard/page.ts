import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../../config/config.ts'
import { hasSignInCookie } from '../../../auth/sign-in.ts'
import { sendAboutPage } from './about-page.ts'
import { readDashboardPage } from './page-files.ts'

/** The placeholder in the built page for the nonce of its styles. */
const NONCE_MARK = 'STYLE_NONCE'
/**
 * The placeholder there for whether a sign-in may exist, so that the page asks who is signed in.
 */
const SIGN_IN_MARK = 'SIGNED_IN'

/** Returns whether a browser asks: programs do not name HTML among the types that they accept. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '')
}

/** Sends the dashboard; while it is not built, a page that says so. It needs no key. */
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
        .replace(NONCE_MARK, nonce)
        .replace(SIGN_IN_MARK, hasSignInCookie(request.raw) ? 'maybe' : 'no'),
    )
}

/**
 * Returns the policy for what the page may load: files of this server only, and no styles in the
 * page but those with the nonce, which the waveform makes.
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
