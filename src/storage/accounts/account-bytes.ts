import { sql } from 'kysely'
import type { Db } from '../database/db.ts'
import { statement } from '../database/statement.ts'

/**
 * The bytes that one account stores, that all accounts store together, and that the account with
 * the most stores.
 */
export type StoredBytes = { accountBytes: number; total: number; largest: number }

/**
 * Counts the bytes that accounts store: files, results, and data that came with their jobs. Work in
 * progress does not count.
 */
export async function countStoredBytes(db: Db, account: string): Promise<StoredBytes> {
  const [storedBytes] = await selectStoredBytes(db, { account })
  return storedBytes!
}

const selectStoredBytes = statement<{ account: string }, StoredBytes>(
  ({ account }) => sql`
    select coalesce(sum(bytes), 0) as total, coalesce(max(bytes), 0) as largest,
      coalesce((select bytes from account_bytes where account = ${account}), 0) as "accountBytes"
    from account_bytes`,
)

/** Returns the accounts that have keys in the store. */
export async function listKeyAccounts(db: Db): Promise<string[]> {
  const rows = await db.sql.selectFrom('keys').select('account').distinct().execute()
  return rows.map(({ account }) => account)
}

/** Maximum results that are measured between two checks of the signal. */
const BATCH = 200

/**
 * Records the sizes of results that were stored as objects before sizes were recorded; returns how
 * many.
 */
export async function measureOldResults(
  db: Db,
  { signal }: { signal: AbortSignal },
): Promise<number> {
  let measured = 0
  for (let after = ''; !signal.aborted; ) {
    const rows = await db.sql
      .selectFrom('jobs')
      .select(['id', 'result_object as object'])
      .where('result_object', '>', after)
      .where('result_size', 'is', null)
      .orderBy('result_object')
      .limit(BATCH)
      .$narrowType<{ object: string }>()
      .execute()
    for (const { id, object } of rows) {
      const objectInfo = await db.objects.check(object).catch(() => undefined)
      if (!objectInfo) continue
      const change = db.sql.updateTable('jobs').set({ result_size: objectInfo.size })
      await change.where('id', '=', id).where('result_object', '=', object).execute()
      measured++
    }
    if (rows.length < BATCH) break
    after = rows.at(-1)!.object
  }
  return measured
}
