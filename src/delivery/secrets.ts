import type { Config } from '../config.ts'
import type { Db } from '../storage/db.ts'
import { signingSecrets } from '../storage/deliveries/signing-secrets.ts'

/** What a secret is looked up by; `now` in milliseconds since 1970. */
export type SecretUse = { account: string; endpointId: string; now: number }

/**
 * The secrets that sign what goes to an endpoint: its own, else its account's, else those that the
 * settings give the account; none when there are none.
 */
export async function findSecrets(
  db: Pick<Db, 'sql'>,
  { secrets: configured }: Pick<Config['delivery'], 'secrets'>,
  use: SecretUse,
): Promise<string[]> {
  const stored = await signingSecrets(db, use)
  if (stored.length > 0) return stored
  return configured.flatMap(({ account, secret }) => (account === use.account ? secret : []))
}
