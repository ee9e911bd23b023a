import ipaddr from 'ipaddr.js'

/** Decides which hosts and addresses an outgoing request may connect to. */
export type AddressGuard = {
  /** Returns whether a host is allowed whatever its addresses are. */
  allowsHost(host: string): boolean
  /** Returns whether a connection to an IP address is allowed. */
  allowsAddress(address: string): boolean
}

type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number]

/**
 * Creates a guard that allows public addresses and what the operator allowed: host names, addresses
 * and CIDR ranges, or `all`. It refuses loopback, private, link-local, carrier-grade NAT, multicast
 * and reserved addresses, and every form that embeds an IPv4 address in an IPv6 one (mapped, NAT64,
 * 6to4, Teredo), because the destination of such a form is decided elsewhere.
 */
export function createAddressGuard(allowed: 'all' | readonly string[]): AddressGuard {
  if (allowed === 'all') return { allowsHost: () => true, allowsAddress: () => true }
  const ranges = allowed.flatMap((entry) => parseRange(entry) ?? [])
  const hosts = new Set(allowed.map((entry) => entry.toLowerCase()))
  return {
    allowsHost: (host) => hosts.has(host.toLowerCase()),
    allowsAddress(text) {
      if (!ipaddr.isValid(text)) return false
      // The mapped form of an allowed address is allowed too.
      const address = ipaddr.process(text)
      const inRange = ranges.some(
        ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
      )
      return inRange || isPublic(ipaddr.parse(text))
    },
  }
}

/**
 * All IPv6 addresses assigned for global unicast (IANA); `::7f00:1`, an old notation for 127.0.0.1,
 * lies outside.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/** The one public address at which a cloud (Azure) exposes the services of its own host. */
const CLOUD_HOST = '168.63.129.16'

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.range() !== 'unicast' || address.toString() === CLOUD_HOST) return false
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST)
}

function parseRange(entry: string): AddressRange[] | undefined {
  if (ipaddr.isValidCIDR(entry)) return [ipaddr.parseCIDR(entry)]
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.parse(entry)
  return [[address, address.kind() === 'ipv4' ? 32 : 128]]
}
