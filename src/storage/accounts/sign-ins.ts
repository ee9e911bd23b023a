import type { Queryable } from '../database/db.ts'

/**
 * A browser that is signed in, a link that signs one in once, or a secret with which a client opens
 * sockets. Times in milliseconds.
 */
export type SignIn = {
  /** The SHA-256, in hex, of the secret that the browser, the link or the client holds. */
  hash: string
  kind: 'browser' | 'link' | 'client'
  /** The hash of the key whose rights the sign-in has. */
  keyHash: string
  expiresAt: number
}

/** Stores a sign-in, and deletes those that have expired by `now`. */
export async function insertSignIn(
  db: Queryable,
  { hash, kind, keyHash, expiresAt }: SignIn,
  { now }: { now: number },
): Promise<void> {
  await db.sql.deleteFrom('sign_ins').where('expires_at', '<=', now).execute()
  await db.sql
    .insertInto('sign_ins')
    .values({ hash, kind, key_hash: keyHash, expires_at: expiresAt })
    .execute()
}

/** Finds a sign-in of one kind that has not expired by `now`. */
export async function findSignIn(
  db: Queryable,
  hash: string,
  { now, kind = 'browser' }: { now: number; kind?: SignIn['kind'] },
): Promise<SignIn | undefined> {
  const row = await db.sql
    .selectFrom('sign_ins')
    .selectAll()
    .where('hash', '=', hash)
    .where('kind', '=', kind)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return row && { hash, kind: row.kind, keyHash: row.key_hash, expiresAt: row.expires_at }
}

/**
 * Deletes a link and returns the hash of its key. If several requests use the same link, only one
 * of them gets the hash. Returns undefined if there is no such link or it has expired.
 */
export async function consumeLink(
  db: Queryable,
  hash: string,
  { now }: { now: number },
): Promise<string | undefined> {
  const row = await db.sql
    .deleteFrom('sign_ins')
    .where('hash', '=', hash)
    .where('kind', '=', 'link')
    .returning(['key_hash', 'expires_at'])
    .executeTakeFirst()
  return row && row.expires_at > now ? row.key_hash : undefined
}

/** Counts the sign-ins of one kind with a key that have not expired by `now`. */
export async function countSignIns(
  db: Queryable,
  { keyHash, kind }: Pick<SignIn, 'keyHash' | 'kind'>,
  { now }: { now: number },
): Promise<number> {
  const { count } = await db.sql
    .selectFrom('sign_ins')
    .select((query) => query.fn.countAll<number>().as('count'))
    .where('key_hash', '=', keyHash)
    .where('kind', '=', kind)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Ends one sign-in. */
export async function deleteSignIn(db: Queryable, hash: string): Promise<void> {
  await db.sql.deleteFrom('sign_ins').where('hash', '=', hash).execute()
}

/** Ends all sign-ins with a key, and its links. */
export async function deleteSignInsOfKey(db: Queryable, keyHash: string): Promise<void> {
  await db.sql.deleteFrom('sign_ins').where('key_hash', '=', keyHash).execute()
}
