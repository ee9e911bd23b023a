import { hash as hashOf } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { App } from '../../app/app-type.ts'
import { AppError } from '../../errors.ts'
import { accountScopes, findKeyByHash, type StoredKey } from '../../storage/accounts/keys.ts'
import type { Db } from '../../storage/database/db.ts'
import { createKeyUse } from './key-use.ts'

/** The rights and the account of a request. `hash` identifies a key without revealing it. */
export type Key = Pick<StoredKey, 'hash' | 'account' | 'scopes'> &
  Partial<Pick<StoredKey, 'prefix'>>

/**
 * Finds the key in `headers`, with `takesBearer` also in `Authorization: Bearer`; rejects with
 * `key_missing`, `key_unknown` or `key_expired`.
 */
export type AuthenticateHeaders = (
  headers: IncomingHttpHeaders,
  options?: { takesBearer?: boolean },
) => Promise<Key>

/** Finds the key with a hash; rejects with `key_unknown` or `key_expired`. */
export type FindKey = (hash: Buffer) => Promise<Key>

/**
 * Creates the function that authenticates requests. The store is queried each time: a key that was
 * revoked there is rejected at once.
 */
export function createAuthenticate({
  config,
  findKey,
}: Pick<App, 'config'> & { findKey: FindKey }): AuthenticateHeaders {
  const names = config.http.authHeaderNames
  return async (headers, { takesBearer = false } = {}) => {
    const bearer = takesBearer
      ? /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
      : undefined
    const name =
      names.find((header) => headers[header] !== undefined) ?? (bearer && 'authorization')
    if (name === undefined) {
      const headerNames = takesBearer ? [...names, 'authorization'] : names
      throw new AppError('key_missing', `the header ${headerNames.join(' or ')} is missing`)
    }
    return findKey(sha256(name === 'authorization' && bearer ? bearer : String(headers[name])))
  }
}

/**
 * Creates the function that finds keys. They come from the configuration and from the store, which
 * holds only hashes. Only hashes are compared, so neither the time of the comparison nor that of
 * the lookup reveals anything about a key.
 */
export function createFindKey(
  { config, storage: { db }, log }: Pick<App, 'config' | 'storage' | 'log'>,
  now: () => number = Date.now,
): FindKey {
  const configured = new Map(
    config.keys.map(({ account, key }) => [sha256(key).toString('hex'), account]),
  )
  const recordUse = createKeyUse({ db, log: log.child({ module: 'api' }) })
  return async (keyHash) => {
    const hash = keyHash.toString('hex')
    const account = configured.get(hash)
    if (account !== undefined) return { hash, account, scopes: accountScopes }

    const stored = await findKeyByHash(db, hash)
    if (!stored) throw new AppError('key_unknown', 'it does not exist')
    const at = now()
    if (stored.expiresAt !== null && stored.expiresAt <= at) {
      throw new AppError('key_expired', `it ended at ${new Date(stored.expiresAt).toISOString()}`)
    }
    recordUse(stored, at)
    return stored
  }
}

/**
 * Returns the name of a key or, without one, its first characters; null for a key of the settings.
 */
export async function keyNameOf(db: Pick<Db, 'sql'>, hash: string): Promise<string | null> {
  const key = await findKeyByHash(db, hash)
  return key ? (key.name ?? key.prefix) : null
}

/** Returns the hash under which a key is stored and looked up. */
export function sha256(key: string): Buffer {
  return hashOf('sha256', key, 'buffer')
}
