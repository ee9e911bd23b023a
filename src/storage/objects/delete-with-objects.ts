import { type Db, inTransaction } from '../database/db.ts'

/**
 * Runs a transaction that deletes rows, and returns the objects that lost their last row, which the
 * caller must delete. If the transaction fails and its outcome is unknown, the objects that have no
 * row any more are deleted here.
 */
export async function deleteWithObjects<T extends { objects: string[] } | undefined>(
  db: Db,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  let objects: readonly string[] = []
  try {
    return await inTransaction(db, async (tx) => {
      const deleted = await work(tx)
      if (deleted) objects = deleted.objects
      return deleted
    })
  } catch (error) {
    if (db.dialect.isOutcomeUnknown(error)) await db.deletions.deleteUnreferenced(objects)
    throw error
  }
}
