import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { openSource } from './source-database.ts'

test('a damaged source is rejected with its name and a remedy', async (t) => {
  const file = join(await makeFolder(t), 'steno.sqlite')
  await writeFile(file, 'not a database')
  assert.throws(() => openSource(file), /Cannot open the database .*steno\.sqlite: .*steno restore/)
})
