import { generateKey } from '../../api/auth/generate-key.ts'
import type { App } from '../../app/app-type.ts'
import { countKeys, scopes } from '../../storage/accounts/keys.ts'

/** The default account of new keys, which the first key belongs to. */
export const FIRST_ACCOUNT = 'default'

/**
 * Creates a key if there is none, neither stored nor configured, and resolves to it. The key has
 * every scope, because it is shown to the person who started the server.
 */
export async function createFirstKey({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): Promise<string | undefined> {
  if (config.keys.length > 0 || (await countKeys(db)) > 0) return undefined
  const { key } = await generateKey(db, { account: FIRST_ACCOUNT, scopes })
  return key
}
