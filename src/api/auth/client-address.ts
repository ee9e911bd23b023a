import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Config } from '../../config/config.ts'

/**
 * Returns the address from which a request came: that of the connection or, behind a trusted proxy,
 * the last one in `X-Forwarded-For`, which is what that proxy saw. The client controls the entries
 * before it.
 */
export function clientAddressOf(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  { trustProxy }: Pick<Config['http'], 'trustProxy'>,
): string {
  const forwarded = trustProxy
    ? String(headers['x-forwarded-for'] ?? '')
        .split(',')
        .at(-1)
    : ''
  return readAddress(forwarded!) ?? normalizeAddress(socket.remoteAddress ?? 'unknown')
}

/** Reads an address as a proxy writes it, which may have a port, or brackets around IPv6. */
function readAddress(text: string): string | undefined {
  const trimmed = text.trim()
  const [, inBrackets] = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed) ?? []
  const [, beforePort] = /^([\d.]+):\d+$/.exec(trimmed) ?? []
  const address = inBrackets ?? beforePort ?? trimmed
  return isIP(address) ? normalizeAddress(address) : undefined
}

/**
 * Returns IPv4 addresses in their usual form: a socket that listens on IPv6 shows
 * `::ffff:192.0.2.1`.
 */
function normalizeAddress(address: string): string {
  const inner = address.replace(/^::ffff:/i, '')
  return isIP(inner) === 4 ? inner : address
}

/**
 * Returns the network of a client, for limits: a subscriber usually gets an IPv6 network of 64
 * bits.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('%', 1)[0]!.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros =
    tail === undefined ? [] : Array(Math.max(0, 8 - before.length - after.length)).fill('0')
  const groups = [...before, ...zeros, ...after].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
