import { openBesideServer } from '../storage/beside-server.ts'
import type { Db } from '../storage/db.ts'

/** The database of a data folder, closed by its user. */
export type OpenDatabase = Pick<Db, 'sql'> & AsyncDisposable

/** Opens the database of a data folder, whether or not a server is running on it; `create` makes a missing one. */
export async function openDatabase(
  folder: string,
  options: { create: boolean },
): Promise<OpenDatabase> {
  const { sql } = await openBesideServer(folder, options)
  return { sql, [Symbol.asyncDispose]: () => sql.destroy() }
}
