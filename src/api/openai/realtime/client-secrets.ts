import { randomBytes } from 'node:crypto'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { countSignIns, findSignIn, insertSignIn } from '../../../storage/accounts/sign-ins.ts'
import { sha256 } from '../../auth/check-key.ts'
import { defaultSettings, type RealtimeSettings } from './session-settings.ts'

/** The prefix of client secrets, as OpenAI uses it. */
const PREFIX = 'ek_'
/** Maximum client secrets of a key that are valid at the same time. */
const MAX_SECRETS = 1000
/** When too many secrets are valid, a client may retry after this many seconds. */
const RETRY_S = 60

/** A new client secret; `expiresAt` is in milliseconds since 1970. */
export type ClientSecret = { value: string; expiresAt: number }

/** The key whose rights a client secret gives, and the settings of its session. */
export type SecretHolder = { keyHash: Buffer; settings: RealtimeSettings }

/** Creates and finds client secrets. */
export type ClientSecrets = ReturnType<typeof createClientSecrets>

/** Returns whether a bearer token is a client secret. */
export function isClientSecret(token: string): boolean {
  return token.startsWith(PREFIX)
}

/**
 * Creates the client secrets: tokens for web pages, which must not have a key. For some minutes,
 * they can open realtime sockets and nothing else. A secret consists of 256 random bits and the
 * settings of its session. The database stores the hash of both, so nobody can change the settings.
 * A secret is valid no longer than its key.
 */
export function createClientSecrets(
  { storage: { db } }: Pick<App, 'storage'>,
  now: () => number = Date.now,
) {
  return {
    /**
     * Creates a secret with the rights of a key; rejects with `rate_limited` if there are too many.
     */
    async create(
      keyHash: string,
      { settings, seconds }: { settings: RealtimeSettings; seconds: number },
    ): Promise<ClientSecret> {
      const at = now()
      const secretCount = await countSignIns(db, { keyHash, kind: 'client' }, { now: at })
      if (secretCount >= MAX_SECRETS) {
        const detail = `${secretCount} client secrets of this key are already valid`
        throw new AppError('rate_limited', detail, { retryAfter: RETRY_S })
      }
      const text = Buffer.from(JSON.stringify(settings)).toString('base64url')
      const value = `${PREFIX}${randomBytes(32).toString('base64url')}.${text}`
      const expiresAt = at + seconds * 1000
      const hash = sha256(value).toString('hex')
      await insertSignIn(db, { hash, kind: 'client', keyHash, expiresAt }, { now: at })
      return { value, expiresAt }
    },

    /** Returns the holder of a valid secret; rejects with `key_unknown`. */
    async find(value: string): Promise<SecretHolder> {
      const hash = sha256(value).toString('hex')
      const signIn = await findSignIn(db, hash, { now: now(), kind: 'client' })
      if (!signIn)
        throw new AppError('key_unknown', 'the client secret has expired or does not exist')
      const text = Buffer.from(value.slice(value.indexOf('.') + 1), 'base64url').toString()
      const settings = { ...defaultSettings, ...(JSON.parse(text) as RealtimeSettings) }
      return { keyHash: Buffer.from(signIn.keyHash, 'hex'), settings }
    },
  }
}
