import { Agent } from 'undici'
import type { AddressGuard } from './address-guard.ts'
import { createGuardedLookup, type GuardedLookupOptions } from './guarded-lookup.ts'

/** A source that has taken no connection by then is down. */
const CONNECT_TIMEOUT_MS = 10_000
/** Four times what most proxies hand on; nobody sends more of them with an answer. */
const MAX_HEADER_BYTES = 32 * 1024

/** What an agent is made with; times in milliseconds, 0 = none. */
export type AgentOptions = GuardedLookupOptions & {
  guard: AddressGuard
  headersTimeout?: number
  /** The longest pause within a body. */
  bodyTimeout?: number
}

/** Makes the HTTP client of all requests for recordings at addresses that a client named. */
export function createGuardedAgent({ guard, resolve, account, ...others }: AgentOptions): Agent {
  const lookup = createGuardedLookup(guard, { resolve, account })
  return new Agent({
    connect: { lookup, timeout: CONNECT_TIMEOUT_MS },
    maxHeaderSize: MAX_HEADER_BYTES,
    ...others,
  })
}
