import type { Agent } from 'undici'
import type { AddressGuard } from './address-guard.ts'
import { createGuardedLookup, type GuardedLookupOptions } from './dns/guarded-lookup.ts'

/** A source that does not accept a connection within this time counts as down. */
const CONNECT_TIMEOUT_MS = 10_000
/** Four times the limit of most proxies; no server sends larger response headers. */
const MAX_HEADER_BYTES = 32 * 1024

/** Options of an agent; times in milliseconds, 0 = no limit. */
export type AgentOptions = GuardedLookupOptions & {
  guard: AddressGuard
  headersTimeout?: number
  /** The longest pause within a body. */
  bodyTimeout?: number
}

/** Creates the HTTP client for all requests for recordings at addresses that a client named. */
export async function createGuardedAgent(options: AgentOptions): Promise<Agent> {
  const { guard, resolve, account, ...others } = options
  // Imported on first use: a server that fetches nothing starts faster without these modules.
  const { Agent } = await import('undici')
  const lookup = createGuardedLookup(guard, { resolve, account })
  return new Agent({
    connect: { lookup, timeout: CONNECT_TIMEOUT_MS },
    maxHeaderSize: MAX_HEADER_BYTES,
    ...others,
  })
}
