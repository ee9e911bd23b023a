import type { Config } from '../config.ts'

/**
 * Returns whether nothing is kept of the new jobs of an account once their result was delivered.
 */
export function hasZeroRetention(
  { zeroRetention }: Pick<Config['storage'], 'zeroRetention'>,
  account: string,
): boolean {
  return zeroRetention === 'all' || zeroRetention.includes(account)
}
