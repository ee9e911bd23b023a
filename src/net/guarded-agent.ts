import { type LookupAddress, lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent } from 'undici'
import type { AddressGuard } from './address-guard.ts'
import { AddressRefusedError } from './check-url.ts'

/** A receiver or source that has taken no connection by then is down. */
const CONNECT_TIMEOUT_MS = 10_000
/** Four times what most proxies hand on; nobody sends more of them with an answer. */
const MAX_HEADER_BYTES = 32 * 1024

/** How names become addresses. */
export type Resolve = typeof resolve

/** What an agent is made with; times in milliseconds, 0 = none. */
export type AgentOptions = {
  guard: AddressGuard
  headersTimeout?: number
  /** The longest pause within a body. */
  bodyTimeout?: number
  /** How long an idle connection is kept for the next request. */
  keepAliveTimeout?: number
  /** Whether HTTP/2 is spoken with who offers it. */
  allowH2?: boolean
  /** For tests. */
  resolve?: Resolve | undefined
}

/**
 * Makes the HTTP client of all requests to addresses that a client named. A host name is judged when the
 * connection is made, by all its addresses: there is no second lookup that could answer otherwise. A host
 * that is written as an address is never looked up; `checkUrl` judges those.
 */
export function createGuardedAgent({
  guard,
  resolve: resolveHost = resolve,
  keepAliveTimeout,
  ...others
}: AgentOptions): Agent {
  return new Agent({
    connect: { lookup: createLookup(guard, resolveHost), timeout: CONNECT_TIMEOUT_MS },
    maxHeaderSize: MAX_HEADER_BYTES,
    ...others,
    // What the other side offers with its Keep-Alive header is no longer than ours.
    ...(keepAliveTimeout && { keepAliveTimeout, keepAliveMaxTimeout: keepAliveTimeout }),
  })
}

function createLookup(guard: AddressGuard, resolveHost: Resolve): LookupFunction {
  return (host, options, callback) => {
    resolveHost(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, [])
      const allowed = addresses.every(({ address }) => guard.allowsAddress(address))
      if (!allowed && !guard.allowsHost(host)) return callback(new AddressRefusedError(), [])
      if (options.all) return callback(null, addresses)
      return callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}
