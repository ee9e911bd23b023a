import type { IncomingMessage } from 'node:http'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'

/** Settings from which returned URLs are built. */
export type UrlSettings = Pick<Config['http'], 'publicBaseUrl' | 'trustProxy'>

/** The longest host: a name has at most 253 characters (RFC 1035), a port with its colon six. */
const MAX_HOST = 259

/**
 * Returns the absolute base, without a trailing slash, of every URL in the response to
 * `request`.
 */
export function baseUrlOf(request: IncomingMessage, settings: UrlSettings): string {
  return settings.publicBaseUrl ?? originOf(request, settings)
}

/** Returns the scheme and authority that the client used, as far as this server can know. */
export function originOf(request: IncomingMessage, { trustProxy }: UrlSettings): string {
  const forwarded = (name: string) => (trustProxy ? firstEntry(request.headers[name]) : undefined)
  const protocol = forwarded('x-forwarded-proto')
  const host = forwarded('x-forwarded-host')
  const scheme = protocol === 'https' ? 'https' : 'http'
  if (host && isHost(host)) return `${scheme}://${host}`
  return `${scheme}://${request.headers.host ?? localHost(request)}`
}

/**
 * Throws `request_unreadable` unless the hosts that a request names are valid hosts, and
 * `host_refused` unless the host of the URLs in its response is among `allowedHosts`.
 */
export function requireHost(
  { headers, rawHeaders, httpVersion }: IncomingMessage,
  { trustProxy, allowedHosts }: Pick<Config['http'], 'trustProxy' | 'allowedHosts'>,
): void {
  const hosts = hostHeaders(rawHeaders)
  if (hosts.length === 0 ? httpVersion === '1.1' : hosts.length > 1 || !isHost(hosts[0]!)) {
    throw new AppError('request_unreadable', 'the Host header is missing, repeated or invalid')
  }
  const forwarded = trustProxy ? firstEntry(headers['x-forwarded-host']) : undefined
  if (forwarded && !isHost(forwarded)) {
    throw new AppError('request_unreadable', 'the header X-Forwarded-Host is not a host name')
  }
  const host = (forwarded || hosts[0])?.toLowerCase()
  if (allowedHosts.length === 0 || host === undefined) return
  const name = host.replace(/:\d+$/, '')
  if (allowedHosts.includes(host) || allowedHosts.includes(name)) return
  throw new AppError('host_refused', `${host} is not among STENO_ALLOWED_HOSTS`)
}

/**
 * Returns the values of all `Host` headers. `rawHeaders` alternates names and values; the parsed
 * headers would have only the first host.
 */
function hostHeaders(rawHeaders: readonly string[]): string[] {
  const hosts: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === 'host') hosts.push(rawHeaders[i + 1]!)
  }
  return hosts
}

/**
 * Returns whether a text is a host with an optional port: a client may put anything into a header.
 */
export function isHost(text: string): boolean {
  if (text.length > MAX_HOST || !/^[\w.:[\]-]+$/.test(text)) return false
  return URL.canParse(`http://${text}`)
}

/**
 * Returns the first entry of a header. With several proxies, the header is a list, whose first
 * entry comes from the proxy next to the client.
 */
function firstEntry(header: string | string[] | undefined): string | undefined {
  return String(header ?? '')
    .split(',', 1)[0]
    ?.trim()
}

/** Returns the local address of a connection as the host: HTTP/1.0 requires no Host header. */
function localHost({ socket }: IncomingMessage): string {
  const { localAddress = '127.0.0.1', localPort } = socket
  return `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}

/**
 * Returns the URL of a live session's socket. Scheme, host and port are those configured for
 * sockets, or else those of `base`, the base of all other URLs.
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
  // A proxy that strips a prefix strips it everywhere, unless the operator configures a path.
  return hasPath ? configured : configured + new URL(base).pathname.replace(/\/$/, '')
}

/**
 * Returns a requested URL with one slash before its path: clients append `/v2/…` to a base URL that
 * may end with a slash.
 */
export function withoutLeadingSlashes(url: string): string {
  return url.replace(/^\/+(?=\/\w)/, '')
}

/** Returns the `audio_url` of an uploaded file. */
export function fileUrl(base: string, id: string): string {
  return `${base}/file/${id}`
}

/**
 * Returns the id at the end of a URL that has the form of an upload's, on any host: a server may
 * have several names. Swift writes UUIDs in capitals.
 */
export function uploadIdIn(audioUrl: string): string | undefined {
  const { pathname } = new URL(audioUrl)
  return /\/file\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/?$/i
    .exec(pathname)?.[1]
    ?.toLowerCase()
}

/**
 * Returns the id in an `audio_url` that points at a file of this server, under any of `bases`;
 * undefined for any other URL. The returned id need not exist, nor even be a UUID.
 */
export function fileIdOf(audioUrl: string, bases: readonly string[]): string | undefined {
  const { origin, pathname } = new URL(audioUrl)
  // Without a configured base URL, all bases are the same.
  for (const text of new Set(bases)) {
    const base = new URL(text)
    const folder = `${base.pathname.replace(/\/$/, '')}/file/`
    if (origin !== base.origin || !pathname.startsWith(folder)) continue
    return pathname.slice(folder.length).replace(/\/$/, '').toLowerCase()
  }
  return undefined
}
