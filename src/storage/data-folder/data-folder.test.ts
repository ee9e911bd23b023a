import assert from 'node:assert/strict'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import {
  databaseFile,
  liveFolder,
  makeDataFolder,
  refuseMissingDatabase,
  refuseOtherDatabase,
} from './data-folder.ts'

test('the data folder is created with its parents, for its owner only', async (t) => {
  const folder = join(await makeFolder(t), 'a', 'b')
  await makeDataFolder(folder)
  await makeDataFolder(folder)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
})

test('a data folder that cannot be created is an error', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  await assert.rejects(makeDataFolder('/proc/steno/data'), { code: 'ENOENT' })
})

test('live sessions without a database prevent the start', async (t) => {
  const folder = await makeFolder(t)
  await refuseMissingDatabase(folder)
  await mkdir(liveFolder(folder))
  await refuseMissingDatabase(folder)
  await mkdir(join(liveFolder(folder), 'session'))
  await assert.rejects(
    refuseMissingDatabase(folder),
    /gone, but not its live sessions; move everything in .*; or move only its live folder/,
  )
  await writeFile(databaseFile(folder), 'x')
  await refuseMissingDatabase(folder)
})

test('a folder with its own database is not used with a shared one; a move is the remedy', async (t) => {
  const folder = await makeFolder(t)
  await refuseOtherDatabase(folder)
  await writeFile(databaseFile(folder), 'x')
  await assert.rejects(refuseOtherDatabase(folder), /move it with 'steno store migrate'/)
})
