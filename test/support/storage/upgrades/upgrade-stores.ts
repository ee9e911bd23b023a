import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { extract } from 'tar'
import { makeFolder } from '../test-storage.ts'

/**
 * The folder of data directories of earlier versions, made by
 * `scripts/tests/test-tools/make-upgrade-fixture.ts`.
 */
const stores = join(import.meta.dirname, '../../../fixtures/stores')
/** The names of their files. */
export const storeNames = readdirSync(stores).sort()

/** What the newest server must find in a store, beside the files. */
export type ExpectedStore = {
  /** The key of the account. */
  key: string
  done: { id: string; transcript: string; metadata: unknown }[]
  live?: { id: string; transcript: string }
  /** A recording whose server was killed before it was done. */
  interrupted: string
  /**
   * A session that was open when the server was killed, and the seconds that it had acknowledged.
   */
  open?: { id: string; path: string; seconds: number }
  /** A key of the account from `steno keys create`, where the version has it. */
  storedKey?: string
  /** Messages to receivers, where the version lists them. */
  deliveries?: string[]
}

/** Unpacks a store, a fixture or another file, into a folder of the test. */
export async function unpackStore(t: TestContext, name: string) {
  const folder = await makeFolder(t)
  await extract({ file: resolve(stores, name), cwd: folder })
  const text = readFileSync(join(folder, 'expected.json'), 'utf8')
  return { folder, data: join(folder, 'data'), expected: JSON.parse(text) as ExpectedStore }
}

/** Fills an empty database with the dump of an unpacked store. */
export async function loadDump(client: Client, folder: string): Promise<void> {
  const dump = readFileSync(join(folder, 'database.sql'), 'utf8')
  await client.query(dump.replace(/^\\.*$/gm, ''))
  // The dump empties it for its own session.
  await client.query('reset search_path')
}

/** Connects until the end of the test. */
export async function connectClient(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Returns every column, index and trigger of a database, in any order. */
export async function postgresSchema(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    select concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select concat_ws(' ', event_object_table, trigger_name, event_manipulation, action_condition)
      from information_schema.triggers where trigger_schema = 'public'
    union all select prosrc from pg_proc where pronamespace = 'public'::regnamespace`)
  return rows.map(({ line }) => line.replace(/\s+/g, ' ')).sort()
}
