import { AppError } from '../../errors.ts'
import type { Scope } from '../../storage/accounts/keys.ts'

/**
 * Returns the account that a request names, by default its own; undefined for `*`, which means all.
 * Only the scope `admin` allows other accounts.
 */
export function requireAccount(
  { account: requestedAccount }: { account?: string | undefined },
  { account: caller, scopes }: { account: string; scopes: readonly Scope[] },
): string | undefined {
  if (requestedAccount === undefined || requestedAccount === caller) return caller
  if (!scopes.includes('admin')) {
    const detail = `its scopes are ${scopes.join(', ')}; admin is needed for other accounts`
    throw new AppError('scope_missing', detail)
  }
  return requestedAccount === '*' ? undefined : requestedAccount
}

/** A request for a resource of an account. */
export type ResourceRequest = { params: { id: string }; account: string; scopes: readonly Scope[] }

/**
 * Returns the account to which the resources of a request must belong; undefined for any account.
 */
export function accountFilterOf({ account, scopes }: ResourceRequest): string | undefined {
  return scopes.includes('admin') ? undefined : account
}
