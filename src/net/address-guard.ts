import ipaddr from 'ipaddr.js'

/** Judges where an outgoing request may connect to. */
export type AddressGuard = {
  /** Whether a host may be reached whatever its addresses are. */
  allowsHost(host: string): boolean
  /** Whether an IP address may be connected to. */
  allowsAddress(address: string): boolean
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Lets through public addresses and what the operator allowed: host names, addresses and CIDR ranges,
 * or `all`. Refused are loopback, private, link-local, carrier-grade NAT, multicast and reserved
 * addresses, and every form that carries an IPv4 address inside an IPv6 one (mapped, NAT64, 6to4,
 * Teredo), because what such a form reaches is decided elsewhere.
 */
export function createAddressGuard(allowed: 'all' | readonly string[]): AddressGuard {
  if (allowed === 'all') return { allowsHost: () => true, allowsAddress: () => true }
  const ranges = allowed.flatMap((entry) => parseRange(entry) ?? [])
  const hosts = new Set(allowed.map((entry) => entry.toLowerCase()))
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress(text) {
      if (!ipaddr.isValid(text)) return false
      // The mapped form of an address that the operator allowed is allowed too.
      const address = ipaddr.process(text)
      const inRange = ranges.some(
        ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
      )
      return inRange || isPublic(ipaddr.parse(text))
    },
  }
}

/** All of IPv6 that is given out (IANA); `::7f00:1`, an old way to write 127.0.0.1, lies outside of it. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** The one public address behind which a cloud (Azure) has the services of its own host. */
const CLOUD_HOST = '168.63.129.16'

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === CLOUD_HOST) return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}

function parseRange(entry: string): Range[] | undefined {
  if (ipaddr.isValidCIDR(entry)) return [ipaddr.parseCIDR(entry)]
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.parse(entry)
  return [[address, address.kind() === 'ipv4' ? 32 : 128]]
}
