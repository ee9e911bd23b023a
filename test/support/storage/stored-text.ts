import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Returns every value of every row of a data folder's database, as one text. */
export function readDatabase(folder: string): string {
  const database = new DatabaseSync(join(folder, 'steno.sqlite'), { readOnly: true })
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
    const rows = tables.map(({ name }) => database.prepare(`select * from "${name}"`).all())
    return JSON.stringify(rows)
  } finally {
    database.close()
  }
}
