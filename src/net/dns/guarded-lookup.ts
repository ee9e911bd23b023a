import type { LookupFunction } from 'node:net'
import type { AddressGuard } from '../address-guard.ts'
import { AddressRefusedError } from '../check-url.ts'
import type { Resolve } from './resolver.ts'

/** How the names of an account are resolved. */
export type GuardedLookupOptions = { resolve: Resolve; account: string }

/**
 * Creates a lookup that resolves the host of a connection while it is being made, and checks all
 * its addresses: there is no second lookup that could give another response. A host that is written
 * as an address is never looked up; `checkUrl` checks those.
 */
export function createGuardedLookup(
  guard: AddressGuard,
  { resolve, account }: GuardedLookupOptions,
): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { account }, (error, addresses) => {
      if (error) return callback(error, [])
      const allowed = addresses.every(({ address }) => guard.allowsAddress(address))
      if (!allowed && !guard.allowsHost(host)) return callback(new AddressRefusedError(), [])
      if (options.all) return callback(null, [...addresses])
      return callback(null, addresses[0]!.address, addresses[0]!.family)
    })
  }
}
