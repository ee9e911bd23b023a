import { generateKey } from '../../api/auth/generate-key.ts'
import type { App } from '../../app/app-type.ts'
import { countKeys, scopes } from '../../storage/accounts/keys.ts'

/** The default account of a new key, such as the one that the first start creates. */
export const FIRST_ACCOUNT = 'default'

/**
 * Creates a key when there is none at all, neither stored nor configured, and resolves to it. Who
 * started the server gets it, so it has every scope.
 */
export async function createFirstKey({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): Promise<string | undefined> {
  if (config.keys.length > 0 || (await countKeys(db)) > 0) return undefined
  const { key } = await generateKey(db, { account: FIRST_ACCOUNT, scopes })
  return key
}
