import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { join } from 'node:path'

/** Addresses by name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>

/** Parses the lines of a hosts file: an address, then its names; `#` begins a comment. */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const earlierAddresses = hosts.get(key)
      if (earlierAddresses) earlierAddresses.push({ address, family })
      else hosts.set(key, [{ address, family }])
    }
  }
  return hosts
}

/** Returns the path of the system's hosts file. */
export function hostsFile(): string {
  if (process.platform !== 'win32') return '/etc/hosts'
  return join('C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
}

/** The resolvers of most systems use no more search domains. */
const MAX_SEARCH_DOMAINS = 6

/** Returns the search domains of `resolv.conf`: those of its last `search` or `domain` line. */
export function parseSearchDomains(text: string): string[] {
  let domains: string[] = []
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.trim().split(/\s+/)
    if (keyword === 'search' || keyword === 'domain') domains = values
  }
  return domains
    .map((domain) => domain.replace(/^\.+|\.+$/g, ''))
    .filter((domain) => domain !== '')
    .slice(0, MAX_SEARCH_DOMAINS)
}
