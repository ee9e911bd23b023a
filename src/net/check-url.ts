import { isIP } from 'node:net'
import type { AddressGuard } from './address-guard.ts'

/** A refused address; the message gives the user the reason. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'

  /**
   * The message never contains the address itself: a client must not be able to map a network by
   * probing.
   */
  constructor(message = 'it is not a public address') {
    super(message)
  }
}

/**
 * Checks the scheme, and hosts written as an IP address, which no lookup checks. Throws
 * `AddressRefusedError`.
 */
export function checkUrl(url: URL, guard: AddressGuard): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AddressRefusedError(`the scheme ${url.protocol} is not http or https`)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) && !guard.allowsHost(host) && !guard.allowsAddress(host)) {
    throw new AddressRefusedError()
  }
}
