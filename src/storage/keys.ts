import type { Db } from './db.ts'

/** A key as it is kept: `hash` is the SHA-256 of the key in hex, `prefix` what a person may see of it. */
export type StoredKey = { hash: string; account: string; prefix: string; createdAt: number }

/** Stores a key by its hash; the key itself never reaches the database. */
export async function insertKey(db: Db, { createdAt, ...key }: StoredKey): Promise<void> {
  await db.sql
    .insertInto('keys')
    .values({ ...key, created_at: createdAt })
    .execute()
}

/** Finds the key that has this hash. */
export async function findKeyByHash(db: Db, hash: string): Promise<StoredKey | undefined> {
  const row = await db.sql
    .selectFrom('keys')
    .selectAll()
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && { hash, account: row.account, prefix: row.prefix, createdAt: row.created_at }
}

/** How many keys there are; none means that this is the first start. */
export async function countKeys(db: Db): Promise<number> {
  const { count } = await db.sql
    .selectFrom('keys')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
