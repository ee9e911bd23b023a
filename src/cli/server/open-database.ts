import {
  type DatabaseLocation,
  type DirectDatabase,
  openDirect,
} from '../../storage/database/direct-access.ts'
import type { MigrationProgress } from '../../storage/database/sqlite/migration-progress.ts'
import type { Output, Terminal } from '../terminal/terminal.ts'
import { makeFilesPrivate } from './private-files.ts'

/** A database, which its user closes. */
export type OpenDatabase = DirectDatabase & AsyncDisposable

type OpenDatabaseOptions = { create: boolean; terminal: Pick<Terminal, 'signal' | 'stderr'> }

/**
 * Opens the database of the settings, whether or not a server is running on it; `create` makes a
 * missing one. An older one is migrated first, which the terminal shows and can interrupt.
 */
export async function openDatabase(
  place: DatabaseLocation,
  { create, terminal: { signal, stderr } }: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  makeFilesPrivate()
  const opened = await openDirect(place, { create, signal, progress: show(stderr) })
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() }
}

/** Names the database of the settings for messages, without its password. */
export function databaseName({ folder, database }: DatabaseLocation): string {
  if (!database) return folder
  const { hostname, pathname } = new URL(database.url)
  return `the database ${pathname.slice(1)} at ${hostname || 'localhost'}`
}

function show(stderr: Output): MigrationProgress {
  const write = (text: string) => void stderr.write(`${text}\n`)
  return {
    begin: ({ from, to }) => write(`Migrating the database from version ${from} to ${to}`),
    rows() {},
    end: () => write('Migrated the database'),
  }
}
