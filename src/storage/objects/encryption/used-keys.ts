import { wallNow } from '../../../clock.ts'
import type { Db } from '../../database/db.ts'
import type { ObjectKeys } from './object-keys.ts'

/**
 * Records the key that encrypts new objects. Throws if a recorded key is missing, because the
 * objects that it encrypts could not be read.
 */
export async function recordObjectKeys(
  db: Pick<Db, 'sql'>,
  keys: ObjectKeys | undefined,
): Promise<void> {
  const used = await db.sql.selectFrom('object_keys').select('id').execute()
  const missing = used.filter(({ id }) => !keys?.find(id)).map(({ id }) => id)
  if (missing.length > 0) {
    throw new Error(
      `Objects are encrypted with the keys ${missing.join(', ')}, which STENO_OBJECT_KEY_FILE or ` +
        'STENO_OBJECT_KEY_COMMAND must provide; see docs/data-protection.md',
    )
  }
  if (!keys) return
  await db.sql
    .insertInto('object_keys')
    .values({ id: keys.current.id, used_at: wallNow() })
    .onConflict((row) => row.column('id').doNothing())
    .execute()
}

/** Removes all other keys from the record, because no object is encrypted with them any more. */
export async function deleteOtherKeyIds(db: Pick<Db, 'sql'>, id: string): Promise<void> {
  await db.sql.deleteFrom('object_keys').where('id', '<>', id).execute()
}
