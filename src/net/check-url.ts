import { isIP } from 'node:net'
import type { AddressGuard } from './address-guard.ts'

/** An address that is not to be connected to; the message says why, in words for whoever named it. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'

  /** Says nothing of the address itself: nobody must map a network by asking. */
  constructor(message = 'it is not a public address') {
    super(message)
  }
}

/**
 * Judges what no lookup will: the scheme, and hosts that are written as an address. Throws
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
