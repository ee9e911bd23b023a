import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

/** What only SQLite understands, or only its driver returns. */
const ofSqlite =
  /\bindexed by\b|\bjson_[a-z]+\(|\bjson\(|without rowid|\browid\b|\|\| ''|\bpragma\b|unixepoch|strftime|sqlite_master|SQLITE_|node:sqlite|errcode|row\.is_?\w+ (?:===|!==) [01]\b|[^.\w]Boolean\(row/i

const storage = join(import.meta.dirname, '..')

test('SQL specific to SQLite is confined to its folder and the backup', () => {
  const files = globSync('**/*.ts', { cwd: storage }).filter((file) => {
    return (
      !/^(database[/\\](sqlite|postgres|migrations)|backup)[/\\]/.test(file) &&
      !/\.(test|fixture)\.ts$/.test(file)
    )
  })
  const found = files.flatMap((file) => {
    const lines = readFileSync(join(storage, file), 'utf8').split('\n')
    return lines.filter((line) => ofSqlite.test(line)).map((line) => `${file}: ${line.trim()}`)
  })
  assert.deepEqual(found, [])
  assert.ok(files.length > 40, 'files are found at all')
})
