import type { Agent, Dispatcher } from 'undici'
import { AppError } from '../../errors.ts'
import { type AddressGuard, createAddressGuard } from '../../net/address-guard.ts'
import { basicCredentials } from '../../net/basic-credentials.ts'
import { checkUrl } from '../../net/check-url.ts'
import type { Resolve } from '../../net/dns/resolver.ts'
import { createGuardedAgent } from '../../net/guarded-agent.ts'
import { decodeBody } from './decode-body.ts'
import { BODY_TIMEOUT_MS, receiveBody } from './receive-body.ts'
import { sourceError } from './source-error.ts'
import { checkResponse, discardBody, encodingOf, refusePage } from './source-response.ts'

const MAX_REDIRECTS = 5
/** A source that has not responded within this time is down, or far too slow for a recording. */
const HEADERS_TIMEOUT_MS = 30_000

/** Options of a fetch: its limits, and the hosts that it may connect to. */
export type FetchOptions = {
  signal: AbortSignal
  /** Maximum seconds of the whole fetch, from the first DNS lookup to the last byte. */
  timeout: number
  maxBytes: number
  /** The private addresses and hosts that may be connected to. */
  allowPrivateNetwork: 'all' | readonly string[]
  /** Resolves a host name to addresses. */
  resolve: Resolve
  /** The account that the recording is fetched for. */
  account: string
}

type Body = AsyncIterable<Uint8Array>

/**
 * Fetches a recording from a URL that a client gave, and streams its bytes to `store`. Supports
 * http and https only. Every connection, including those of redirects, goes to an address that is
 * checked when the connection is made; there is no second lookup that could return another address.
 * Throws an `AppError` with a `source_…` or `media_…` code.
 */
export async function fetchUrl<T>(
  url: string,
  store: (body: Body, signal: AbortSignal) => Promise<T>,
  options: FetchOptions,
): Promise<T> {
  const { timeout, maxBytes, allowPrivateNetwork } = options
  const guard = createAddressGuard(allowPrivateNetwork)
  const deadline = new AbortController()
  const detail = `it took longer than ${timeout} s (STENO_FETCH_TIMEOUT_S)`
  const timeoutError = new AppError('source_timeout', detail)
  const timer = setTimeout(() => deadline.abort(timeoutError), timeout * 1000)
  const signal = AbortSignal.any([options.signal, deadline.signal])
  const agent = await createGuardedAgent({
    guard,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    resolve: options.resolve,
    account: options.account,
  })
  try {
    const request = (headers: Record<string, string>) => {
      return sendFollowingRedirects(url, headers, { agent, guard, signal })
    }
    const response = await request({})
    checkResponse(response, maxBytes)
    const { account } = options
    const received = receiveBody({ response, request, signal, account })
    const body = decodeBody(received, { encoding: encodingOf(response), account, maxBytes })
    return await store(refusePage(body, response), signal)
  } finally {
    clearTimeout(timer)
    await agent.destroy()
  }
}

type Connection = { agent: Agent; guard: AddressGuard; signal: AbortSignal }

/**
 * Requests `first` and follows redirects. A user name and password in that URL are sent only to its
 * own origin.
 */
async function sendFollowingRedirects(
  first: string,
  headers: Record<string, string>,
  connection: Connection,
): Promise<Dispatcher.ResponseData> {
  let url = parseUrl(first)
  const { origin } = url
  const authorization = basicCredentials(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const credentials = url.origin === origin && authorization ? { authorization } : {}
    const response = await send(url, { ...headers, ...credentials }, connection)
    const { location } = response.headers
    if (response.statusCode < 300 || response.statusCode > 399 || typeof location !== 'string') {
      return response
    }
    discardBody(response)
    url = parseUrl(decodeHeader(location), url)
  }
  throw new AppError('source_unreachable', `it redirected more than ${MAX_REDIRECTS} times`)
}

async function send(
  url: URL,
  extraHeaders: Record<string, string>,
  { agent, guard, signal }: Connection,
): Promise<Dispatcher.ResponseData> {
  const { request } = await import('undici')
  try {
    checkUrl(url, guard)
    const headers = { 'accept-encoding': 'identity', 'user-agent': 'steno', ...extraHeaders }
    const address = `${url.origin}${url.pathname}${url.search}`
    return await request(address, { dispatcher: agent, signal, headers })
  } catch (error) {
    throw signal.aborted ? signal.reason : sourceError(error)
  }
}

/** Decodes UTF-8 in a header, whose bytes arrive as Latin-1, as browsers do. */
function decodeHeader(value: string): string {
  return Buffer.from(value, 'latin1').toString()
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href)
  if (url) return url
  throw new AppError('source_unreachable', 'the address cannot be read')
}
