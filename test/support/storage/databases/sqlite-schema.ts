import { DatabaseSync } from 'node:sqlite'
import { databaseFile } from '../../../../src/storage/data-folder/data-folder.ts'

/**
 * Returns what the database in a data folder is made of: every table, index and trigger as SQL, its
 * letters in order, since columns that a migration adds stand last.
 */
export function sqliteSchema(folder: string): string[] {
  const database = new DatabaseSync(databaseFile(folder), { readOnly: true })
  const rows = database.prepare('select name, sql from sqlite_schema').all() as {
    name: string
    sql: string | null
  }[]
  database.close()
  const inAnyOrder = (text: string) => [...text.replace(/\s+/g, '')].sort().join('')
  return rows.map(({ name, sql }) => `${name} ${inAnyOrder(sql ?? '')}`).sort()
}
