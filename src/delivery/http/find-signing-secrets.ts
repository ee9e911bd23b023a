import type { Config } from '../../config/config.ts'
import type { Db } from '../../storage/database/db.ts'
import { signingSecrets } from '../../storage/deliveries/endpoints/signing-secrets.ts'

/** The key for looking up secrets; `now` is in milliseconds since 1970. */
export type SigningUse = { account: string; endpointId: string; now: number }

/**
 * Returns the secrets that sign deliveries to an endpoint: its own, else those of its account, else
 * those configured for the account; empty if there are none.
 */
export async function findSigningSecrets(
  db: Pick<Db, 'sql'>,
  { secrets: configured }: Pick<Config['delivery'], 'secrets'>,
  use: SigningUse,
): Promise<string[]> {
  const stored = await signingSecrets(db, use)
  if (stored.length > 0) return stored
  return configured.flatMap(({ account, secret }) => (account === use.account ? secret : []))
}
