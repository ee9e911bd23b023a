import {
  type DatabaseLocation,
  type DirectDatabase,
  openDirect,
} from '../../storage/database/direct-access.ts'
import type { MigrationProgress } from '../../storage/database/sqlite/migration-progress.ts'
import type { Output, Terminal } from '../terminal/terminal.ts'
import { makeFilesPrivate } from './private-files.ts'

/** An open database, which the caller closes. */
export type OpenDatabase = DirectDatabase & AsyncDisposable

type OpenDatabaseOptions = { create: boolean; terminal: Pick<Terminal, 'signal' | 'stderr'> }

/**
 * Opens the configured database, whether or not a server is using it; `create` creates a missing
 * one. A database of an older version is migrated first; the terminal shows this and can interrupt
 * it.
 */
export async function openDatabase(
  place: DatabaseLocation,
  { create, terminal: { signal, stderr } }: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  makeFilesPrivate()
  const opened = await openDirect(place, { create, signal, progress: showMigration(stderr) })
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

/** Returns the name of the configured database for messages, without its password. */
export function databaseName({ folder, database }: DatabaseLocation): string {
  if (!database) return folder
  const { hostname, pathname } = new URL(database.url)
  return `the database ${pathname.slice(1)} at ${hostname || 'localhost'}`
}

function showMigration(stderr: Output): MigrationProgress {
  const write = (text: string) => void stderr.write(`${text}\n`)
  return {
    begin: ({ from, to }) => write(`Migrating the database from version ${from} to ${to}`),
    rows() {},
    end: () => write('Migrated the database'),
  }
}
