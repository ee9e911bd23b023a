import { Readable } from 'node:stream'
import { type Agent, type Dispatcher, request } from 'undici'
import type { Config } from '../config.ts'
import { type AddressGuard, createAddressGuard } from '../net/address-guard.ts'
import { basicCredentials } from '../net/basic-credentials.ts'
import { AddressRefusedError, checkUrl } from '../net/check-url.ts'
import { describeConnectionError } from '../net/connection-error.ts'
import { createGuardedAgent, type Resolve } from '../net/guarded-agent.ts'
import type { AttemptRecord, Delivery } from '../storage/deliveries.ts'
import type { DeliveryBody } from '../storage/delivery-body.ts'
import { readExcerpt } from './excerpt.ts'
import { hideSecrets } from './hide-secrets.ts'
import { inPieces } from './pieces.ts'
import { signedHeaders } from './signature.ts'

/** Idle connections are kept for less than the five seconds after which many servers close theirs. */
const KEEP_ALIVE_MS = 4000
/** The answer is decided by its head; what follows is only for the log. */
const EXCERPT_TIMEOUT_MS = 2000
/** Their bytes are limited where they come in. */
const MAX_HEADERS = 200
/** 1 Mbit/s: the time that a long body gets on top, so that it reaches a slow receiver too. */
const BYTES_PER_MS = 125

/** One attempt, as it is asked for. */
export type Attempt = {
  delivery: Pick<Delivery, 'id' | 'method' | 'url'>
  body: DeliveryBody
  /** Signing secrets, `whsec_` and base64. */
  secrets: readonly string[]
  signal: AbortSignal
}

/** What attempts are made with. */
export type SenderOptions = {
  config: Pick<Config, 'delivery' | 'network'>
  /** Milliseconds since 1970. */
  now?: () => number
  /** For tests: how a name becomes addresses. */
  resolve?: Resolve | undefined
}

/** Makes attempts, over connections that it keeps for a moment. */
export type Sender = {
  /** Makes one attempt; rejects, with the reason of its signal, only when that is aborted before an answer. */
  send(attempt: Attempt): Promise<AttemptRecord>
  /** Cuts all connections. */
  close(): Promise<void>
}

/** Makes what sends deliveries: every connection is judged when it is made, and no redirect is followed. */
export function createSender({ config, now = Date.now, resolve }: SenderOptions): Sender {
  const guard = createAddressGuard(config.network.allowPrivateNetwork)
  // The time limit of an attempt is its own.
  const limits = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS }
  const agent = createGuardedAgent({ guard, ...limits, allowH2: false, resolve })
  return {
    send: (attempt) => send(attempt, { agent, guard, now, settings: config.delivery }),
    close: () => agent.destroy(),
  }
}

type Tools = { agent: Agent; guard: AddressGuard; now: () => number; settings: Config['delivery'] }

async function send(attempt: Attempt, tools: Tools): Promise<AttemptRecord> {
  const { delivery, body, secrets, signal } = attempt
  const { timeout, userAgent, headerPrefixes: prefixes } = tools.settings
  const at = tools.now()
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
    checkUrl(url, tools.guard)
    const response = await request(`${url.origin}${url.pathname}${url.search}`, {
      dispatcher: tools.agent,
      method: delivery.method,
      headers,
      body: Readable.from(inPieces(body), { objectMode: false }),
      signal: limit,
    })
    // What is measured is the time to the answer, not that for the log.
    const ms = since(startedAt)
    const responseBody = await readExcerpt(response.body, { timeout: EXCERPT_TIMEOUT_MS })
    const responseHeaders = hideSecrets(flatten(response.headers))
    const { statusCode: status } = response
    return { ...sent, ms, status, error: null, responseHeaders, responseBody }
  } catch (error) {
    signal.throwIfAborted()
    const late = `it did not answer within ${Math.round(seconds * 1000) / 1000} s`
    const told = deadline.signal.aborted ? late : describeConnectionError(error).detail
    const nothing = { status: null, responseHeaders: null, responseBody: null }
    return { ...sent, ms: since(startedAt), error: told, ...nothing }
  } finally {
    clearTimeout(timer)
  }
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt)
}

/** The first of many headers, so that thousands of empty ones do not fill the log. */
function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const texts = Object.entries(headers).slice(0, MAX_HEADERS)
  const joined = texts.map(([name, value]) => {
    return [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]
  })
  return Object.fromEntries(joined)
}
