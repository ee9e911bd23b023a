import { DAY_MS } from '../../clock.ts'
import { accountScopes, type Scope, scopes } from '../../storage/accounts/keys.ts'
import { UsageError } from '../terminal/arguments.ts'
import { parseDate } from '../terminal/date-time.ts'

/** The longest label that fits a line of the list. */
const MAX_LABEL = 100

/** Reads a name that is shown in a terminal: it must not contain control characters. */
export function readLabel(text: string, { name }: { name: string }): string {
  const label = text.trim()
  if (label !== '' && label.length <= MAX_LABEL && !/\p{C}/u.test(label)) return label
  throw new UsageError(`--${name} must be 1 to ${MAX_LABEL} visible characters`)
}

/** Reads a list of scopes; without one, returns the default scopes of an account. */
export function readScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return accountScopes
  const requestedScopes = text.split(',').map((part) => part.trim())
  const unknown = requestedScopes.find(
    (requestedScope) => !scopes.some((scope) => scope === requestedScope),
  )
  if (unknown === undefined) return scopes.filter((scope) => requestedScopes.includes(scope))
  throw new UsageError(`--scopes must be some of ${scopes.join(',')}; not '${unknown}'`)
}

/**
 * Reads the expiry of a key, a number of days or a date (UTC by default), as milliseconds since
 * 1970; null when absent.
 */
export function readExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const at = days === undefined ? parseDate(text) : now + Number(days) * DAY_MS
  if (at > now) return at
  throw new UsageError(
    `--expires must be a number of days such as 30d, or a future ISO date such as 2030-01-31, not '${text}'`,
  )
}
