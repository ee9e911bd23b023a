import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { LookupError } from './lookup-error.ts'
import { LookupScheduler } from './lookup-scheduler.ts'
import { type Hosts, hostsFile, parseHosts, parseSearchDomains } from './resolver-files.ts'
import { watchFile } from './watched-file.ts'

/** First timeout of one query to one server; the second try waits longer. */
const QUERY_TIMEOUT_MS = 2000
const TRIES = 2
/** Timeout of one lookup with all its queries; below the connect timeout. */
const LOOKUP_MS = 6000
/** The longest wait for a lookup to begin. */
const MAX_WAIT_MS = 8000
/** Once the addresses of one family are known, the wait for the other is no longer than this. */
const OTHER_FAMILY_MS = 300
/** A name that has just failed is not queried again for this long. */
const FAILED_FOR_MS = 2000
const MAX_FAILED_NAMES = 1000

const LOCAL_ADDRESSES: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** The options of a lookup. */
export type ResolveOptions = {
  /** The account of the lookup: lookups of one account do not affect any other. */
  account: string
}

/** Resolves a name to all its addresses; fails with a `LookupError`. */
export type Resolve = (
  host: string,
  options: ResolveOptions,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

/** For tests: other sources than those of the system. */
export type ResolverSources = {
  /** Name servers, `address:port`. */
  servers?: readonly string[]
  hosts?: () => Promise<Hosts>
  searchDomains?: () => Promise<readonly string[]>
  lookupMs?: number
}

/**
 * Creates a resolver for names from outside. It reads the hosts file, then queries the name servers
 * of the system, without the system's own `getaddrinfo`: that blocks one of the few threads that
 * also write files, for as long as a name does not resolve. A name that has no address itself is
 * looked up in the search domains.
 */
export function createResolver(sources: ResolverSources = {}): Resolve {
  const {
    hosts = watchFile(hostsFile(), parseHosts),
    searchDomains = watchFile('/etc/resolv.conf', parseSearchDomains),
    lookupMs = LOOKUP_MS,
  } = sources
  const turns = new LookupScheduler()
  const running = new Map<string, Promise<readonly LookupAddress[]>>()
  const failed = createFailures()

  async function lookUp(name: string, account: string): Promise<readonly LookupAddress[]> {
    const family = isIP(name)
    if (family !== 0) return [{ address: name, family }]
    const localAddresses = (await hosts()).get(name.replace(/\.$/, '')) ?? specialAddresses(name)
    if (localAddresses) return localAddresses
    failed.check(name)
    return turns.run(account, MAX_WAIT_MS, () => resolveOnce(name))
  }

  /** Lookups of a name that is already being resolved share the response. */
  function resolveOnce(name: string): Promise<readonly LookupAddress[]> {
    failed.check(name)
    const requested = running.get(name) ?? start(name)
    running.set(name, requested)
    return requested
  }

  async function start(name: string): Promise<readonly LookupAddress[]> {
    try {
      const domains = name.endsWith('.') ? [] : await searchDomains()
      const names = [name, ...domains.map((domain) => `${name}.${domain}`)]
      return await query(names, { servers: sources.servers, lookupMs })
    } catch (error) {
      failed.note(name, error)
      throw error
    } finally {
      running.delete(name)
    }
  }

  return (host, { account }, callback) => {
    lookUp(host.toLowerCase(), account).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    )
  }
}

/** Handles the names for which no server is queried (RFC 6761). */
function specialAddresses(name: string): readonly LookupAddress[] | undefined {
  const last = name.replace(/\.$/, '').split('.').at(-1)
  if (last === 'invalid') throw new LookupError('ENOTFOUND')
  return last === 'localhost' ? LOCAL_ADDRESSES : undefined
}

type QueryOptions = { servers: readonly string[] | undefined; lookupMs: number }

/** Returns the addresses of the first of `names` that has some. */
async function query(
  names: readonly string[],
  { servers, lookupMs }: QueryOptions,
): Promise<readonly LookupAddress[]> {
  // One resolver per lookup: it reads the current list of servers, and can be canceled alone.
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  const timer = setTimeout(() => resolver.cancel(), lookupMs)
  const endsAt = performance.now() + lookupMs
  try {
    for (const name of names) {
      if (performance.now() >= endsAt) throw new LookupError('EAI_AGAIN')
      const addresses = await queryBoth(resolver, name)
      if (addresses.length > 0) return addresses
    }
  } finally {
    clearTimeout(timer)
    resolver.cancel()
  }
  throw new LookupError('ENOTFOUND')
}

/** Returns the addresses of both families; empty when the servers report none. */
async function queryBoth(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  const addressesByFamily: LookupAddress[][] = [[], []]
  const errors: unknown[] = []
  const requested = [resolver.resolve4(name), resolver.resolve6(name)].map(async (lookup, i) => {
    const addresses = await lookup.catch((error) => {
      errors.push(error)
      throw error
    })
    addressesByFamily[i] = addresses.map((address) => ({ address, family: i === 0 ? 4 : 6 }))
  })
  const all = Promise.allSettled(requested)
  const hasAddresses = await Promise.any(requested).then(
    () => true,
    () => false,
  )
  if (hasAddresses) {
    const timeout = new AbortController()
    await Promise.race([all, delay(OTHER_FAMILY_MS, undefined, timeout).catch(() => {})])
    timeout.abort()
    return addressesByFamily.flat()
  }
  const codes = errors.map((error) => (error as NodeJS.ErrnoException).code)
  // One server may report that a name does not exist while the query for the other family is lost.
  if (codes.includes('ENOTFOUND') || codes.every((code) => code === 'ENODATA')) return []
  throw new LookupError('EAI_AGAIN', { cause: errors[0] })
}

/** Remembers for a moment which names failed, and how. */
function createFailures() {
  const failures = new Map<string, { error: unknown; until: number }>()
  return {
    /** Throws the error with which the lookup of a name has just failed. */
    check(name: string): void {
      const failure = failures.get(name)
      if (failure && performance.now() < failure.until) throw failure.error
    },
    note(name: string, error: unknown): void {
      failures.delete(name)
      failures.set(name, { error, until: performance.now() + FAILED_FOR_MS })
      const [oldest] = failures.keys()
      if (failures.size > MAX_FAILED_NAMES) failures.delete(oldest!)
    },
  }
}
