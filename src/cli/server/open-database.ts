import type { Db } from '../../storage/db.ts'
import { openOffline } from '../../storage/offline-access.ts'
import type { MigrationProgress } from '../../storage/sqlite/migration-progress.ts'
import type { Output, Terminal } from '../terminal/terminal.ts'
import { makeFilesPrivate } from './private-files.ts'

/** The database of a data folder, which its user closes. */
export type OpenDatabase = Pick<Db, 'sql'> & AsyncDisposable

type Options = { create: boolean; terminal: Pick<Terminal, 'signal' | 'stderr'> }

/**
 * Opens the database of a data folder, whether or not a server is running on it; `create` makes a
 * missing one. An older one is migrated first, which the terminal shows and can interrupt.
 */
export async function openDatabase(
  folder: string,
  { create, terminal: { signal, stderr } }: Options,
): Promise<OpenDatabase> {
  makeFilesPrivate()
  const { sql } = await openOffline(folder, { create, signal, progress: show(stderr) })
  return { sql, [Symbol.asyncDispose]: () => sql.destroy() }
}

function show(stderr: Output): MigrationProgress {
  const write = (text: string) => void stderr.write(`${text}\n`)
  return {
    begin: ({ from, to }) => write(`Migrating the database from version ${from} to ${to}`),
    rows() {},
    end: () => write('Migrated the database'),
  }
}
