import type { Config } from '../../config/config.ts'
import { type AddressGuard, createAddressGuard } from '../../net/address-guard.ts'
import { basicCredentials } from '../../net/basic-credentials.ts'
import { AddressRefusedError, checkUrl } from '../../net/check-url.ts'
import { describeConnectionError } from '../../net/connection-error.ts'
import { createResolver, type Resolve } from '../../net/dns/resolver.ts'
import type { AttemptRecord, Delivery } from '../../storage/deliveries/deliveries.ts'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'
import { hideIn, hideSecrets } from '../masking/hide-secrets.ts'
import { sentSecrets } from '../masking/sent-secrets.ts'
import { bodyChunks } from './body-chunks.ts'
import { createDeliveryClient, type DeliveryClient } from './delivery-client.ts'
import { limitHeaders } from './limit-headers.ts'
import { EXCERPT_BYTES } from './response-excerpt.ts'
import { signedHeaders } from './signature.ts'

/** Extra time for a long body: 1 Mbit/s, so that it also reaches a slow receiver. */
const BYTES_PER_MS = 125

/** An attempt to be made. */
export type AttemptRequest = {
  delivery: Pick<Delivery, 'id' | 'account' | 'method' | 'url'>
  body: DeliveryBody
  /** Signing secrets: `whsec_` followed by base64. */
  secrets: readonly string[]
  signal: AbortSignal
}

/** The dependencies of attempts. */
export type SenderOptions = {
  config: Pick<Config, 'delivery' | 'network'>
  /** Returns the time in milliseconds since 1970. */
  now?: () => number
  /** For tests: resolves a host name to addresses. */
  resolve?: Resolve | undefined
}

/** Makes attempts over connections that are kept alive briefly. */
export type Sender = {
  /**
   * Makes one attempt. Rejects, with the reason of its signal, only if aborted before a response;
   * all other failures are part of the record.
   */
  send(attempt: AttemptRequest): Promise<AttemptRecord>
  /** Closes all connections. */
  close(): void
}

/**
 * Creates the sender of deliveries. Every connection is checked when it is made, and no redirect is
 * followed.
 */
export function createSender({
  config,
  now = Date.now,
  resolve = createResolver(),
}: SenderOptions): Sender {
  const guard = createAddressGuard(config.network.allowPrivateNetwork)
  const client = createDeliveryClient(guard, resolve)
  return {
    send: (attempt) => send(attempt, { client, guard, now, settings: config.delivery }),
    close: () => client.close(),
  }
}

type Deps = {
  client: DeliveryClient
  guard: AddressGuard
  now: () => number
  settings: Config['delivery']
}

async function send(attempt: AttemptRequest, deps: Deps): Promise<AttemptRecord> {
  const { delivery, body, secrets, signal } = attempt
  const { timeout, userAgent, headerPrefixes: prefixes } = deps.settings
  const at = deps.now()
  const url = URL.parse(delivery.url)
  const authorization = url && basicCredentials(url)
  const signed = await signedHeaders({ id: delivery.id, at, body, secrets }, { prefixes })
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.bytes),
    'user-agent': userAgent,
    ...(authorization && { authorization }),
    ...signed,
  }
  const deadline = new AbortController()
  const seconds = timeout + body.bytes / BYTES_PER_MS / 1000
  const timer = setTimeout(() => deadline.abort(), seconds * 1000)
  const limit = AbortSignal.any([signal, deadline.signal])
  const startedAt = performance.now()
  const sent = { at, requestHeaders: hideSecrets(headers) }
  try {
    if (!url) throw new AddressRefusedError('the address cannot be read')
    checkUrl(url, deps.guard)
    const { account, method } = delivery
    const { bytes } = body
    const request = { url, account, method, headers, body: bodyChunks(body), bytes, signal: limit }
    const response = await deps.client.send(request)
    // Measures the time to the response, without reading the excerpt for the log.
    const ms = elapsedMs(startedAt)
    const { status } = response
    const hidden = sentSecrets(url, headers)
    // Cut again, because the placeholder of a short secret is longer than the secret.
    const responseBody = hideIn(await response.excerpt(), hidden).slice(0, EXCERPT_BYTES)
    const responseHeaders = limitHeaders(hideSecrets(response.headers, hidden))
    return { ...sent, ms, status, error: null, responseHeaders, responseBody }
  } catch (error) {
    signal.throwIfAborted()
    const timeoutDetail = `it did not respond within ${Math.round(seconds * 1000) / 1000} s`
    const detail = deadline.signal.aborted ? timeoutDetail : describeConnectionError(error).detail
    const noResponse = { status: null, responseHeaders: null, responseBody: null }
    return { ...sent, ms: elapsedMs(startedAt), error: detail, ...noResponse }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Returns the elapsed milliseconds, rounded down: the end of an attempt, at which the next is due,
 * must not lie in the future.
 */
function elapsedMs(startedAt: number): number {
  return Math.floor(performance.now() - startedAt)
}
