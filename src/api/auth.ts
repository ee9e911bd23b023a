import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { Db } from '../storage/db.ts'
import { findKeyByHash } from '../storage/keys.ts'

/** Finds the account whose key is in `headers`; rejects with `key_missing` or `key_unknown`. */
export type Authenticate = (headers: IncomingHttpHeaders) => Promise<string>

/**
 * Keys come from the configuration and from the store, which holds only hashes. What is compared is
 * always hashes, so neither the time of the comparison nor that of the look-up tells about a key.
 */
export function createAuthenticate({ config, db }: { config: Config; db: Db }): Authenticate {
  const configured = config.keys.map(({ account, key }) => ({ account, hash: sha256(key) }))
  const names = config.http.authHeaderNames
  return async (headers) => {
    const name = names.find((one) => headers[one] !== undefined)
    if (name === undefined) {
      throw new AppError('key_missing', `the header ${names.join(' or ')} is missing`)
    }
    const hash = sha256(String(headers[name]))
    let account: string | undefined
    for (const key of configured) if (timingSafeEqual(key.hash, hash)) account = key.account
    account ??= (await findKeyByHash(db, hash.toString('hex')))?.account
    if (account === undefined) throw new AppError('key_unknown', `the key in ${name} is not known`)
    return account
  }
}

/** The hash under which a key is stored and looked up. */
export function sha256(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
