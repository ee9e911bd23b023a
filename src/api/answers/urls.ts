import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config.ts'
import { AppError } from '../../errors.ts'

/** Settings from which returned addresses are built. */
export type UrlSettings = Pick<Config['http'], 'publicBaseUrl' | 'trustProxy'>

/** A name has 253 characters at most (RFC 1035), a port six with its colon. */
const MAX_HOST = 259

/** The absolute base, without a slash at its end, of every URL in the answer to `request` (contract 1.1). */
export function baseUrlOf(request: IncomingMessage, settings: UrlSettings): string {
  return settings.publicBaseUrl ?? originOf(request, settings)
}

/** Scheme and authority that the client used, as far as this server can know. */
export function originOf(request: IncomingMessage, { trustProxy }: UrlSettings): string {
  const forwarded = (name: string) => (trustProxy ? firstOf(request.headers[name]) : undefined)
  const protocol = forwarded('x-forwarded-proto')
  const host = forwarded('x-forwarded-host')
  const scheme = protocol === 'https' ? 'https' : 'http'
  if (host && isHost(host)) return `${scheme}://${host}`
  return `${scheme}://${request.headers.host ?? localHost(request)}`
}

/**
 * Throws `request_unreadable` unless the hosts that a request names are hosts, and `host_refused` unless
 * the one that its answer would point at is among `allowedHosts`.
 */
export function requireHost(
  { headers, headersDistinct, httpVersion }: IncomingMessage,
  { trustProxy, allowedHosts }: Pick<Config['http'], 'trustProxy' | 'allowedHosts'>,
): void {
  const hosts = headersDistinct.host ?? []
  if (hosts.length === 0 ? httpVersion === '1.1' : hosts.length > 1 || !isHost(hosts[0]!)) {
    throw new AppError('request_unreadable', 'the Host header is missing, twice there or no host')
  }
  const forwarded = trustProxy ? firstOf(headers['x-forwarded-host']) : undefined
  if (forwarded && !isHost(forwarded)) {
    throw new AppError('request_unreadable', 'the header X-Forwarded-Host is no host')
  }
  const host = (forwarded || hosts[0])?.toLowerCase()
  if (allowedHosts.length === 0 || host === undefined) return
  const name = host.replace(/:\d+$/, '')
  if (allowedHosts.includes(host) || allowedHosts.includes(name)) return
  throw new AppError('host_refused', `${host} is not among STENO_ALLOWED_HOSTS`)
}

/** Tells a host with an optional port from everything else that a client may put into a header. */
export function isHost(text: string): boolean {
  if (text.length > MAX_HOST || !/^[\w.:[\]-]+$/.test(text)) return false
  return URL.canParse(`http://${text}`)
}

/** Through several proxies the header is a list, and the one next to the client comes first. */
function firstOf(header: string | string[] | undefined): string | undefined {
  return String(header ?? '')
    .split(',', 1)[0]
    ?.trim()
}

/** HTTP/1.0 knows no Host header; the address that was reached is the best guess. */
function localHost({ socket }: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort } = socket
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}

/**
 * The address of a live session's socket below the base of all others: its scheme, host and port are
 * those that were configured for sockets, or else the same as everywhere.
 */
export function liveUrl(
  base: string,
  token: string,
  { publicWsBaseUrl }: Pick<Config['http'], 'publicWsBaseUrl'>,
): string {
  return `${socketBase(base, publicWsBaseUrl)}/v2/live?token=${encodeURIComponent(token)}`
}

function socketBase(base: string, configured: string | undefined): string {
  if (configured === undefined) return base.replace(/^http/, 'ws')
  const hasPath = new URL(configured).pathname !== '/'
  // A proxy that cuts a prefix off cuts it off everywhere, unless the operator says which.
  return hasPath ? configured : configured + new URL(base).pathname.replace(/\/$/, '')
}

/** Turns the id of an upload into its `audio_url`. */
export function fileUrl(base: string, id: string): string {
  return `${base}/file/${id}`
}

/** The id at the end of an address such as an upload has, on whatever host: a server may have several names. */
export function uploadIdIn(audioUrl: string): string | undefined {
  const { pathname } = new URL(audioUrl)
  return /\/file\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?$/.exec(pathname)?.[1]
}

/**
 * The id in an `audio_url` that points at a file of this server, under any of `bases`; undefined for
 * any other address. What it returns need not be an id that exists, nor even a UUID.
 */
export function fileIdOf(audioUrl: string, bases: readonly string[]): string | undefined {
  const { origin, pathname } = new URL(audioUrl)
  for (const base of bases.map((text) => new URL(text))) {
    const folder = `${base.pathname.replace(/\/$/, '')}/file/`
    if (origin !== base.origin || !pathname.startsWith(folder)) continue
    return pathname.slice(folder.length).replace(/\/$/, '')
  }
  return undefined
}
