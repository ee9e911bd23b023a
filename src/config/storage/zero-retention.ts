import type { Config } from '../config.ts'

/** Returns whether new jobs of an account are deleted once their result was delivered. */
export function hasZeroRetention(
  { zeroRetention }: Pick<Config['storage'], 'zeroRetention'>,
  account: string,
): boolean {
  return zeroRetention === 'all' || zeroRetention.includes(account)
}
