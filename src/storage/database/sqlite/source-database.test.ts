import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { mountSmallDisk } from '../../../../test/support/storage/small-disk.ts'
import { makeFolder, openFolder } from '../../../../test/support/storage/test-storage.ts'
import { openSource } from './source-database.ts'

test('a damaged source is rejected with its name and a remedy', async (t) => {
  const file = join(await makeFolder(t), 'steno.sqlite')
  await writeFile(file, 'not a database')
  assert.throws(() => openSource(file), /Cannot open the database .*steno\.sqlite: .*steno restore/)
})

test('a source on a file system that is read-only is read', async (t) => {
  const disk = mountSmallDisk(4_000_000)
  if (!disk) return t.skip('needs the right to mount a small disk')
  t.after(() => disk.unmount())
  const folder = await makeFolder(t)
  const { close } = await openFolder(folder)
  await close()
  const file = join(disk.folder, 'a folder #1', 'steno.sqlite')
  execFileSync('mkdir', [join(disk.folder, 'a folder #1')])
  await copyFile(join(folder, 'steno.sqlite'), file)
  execFileSync('mount', ['-o', 'remount,ro', disk.folder])
  using source = openSource(file)
  assert.equal(source.count({ name: 'jobs', key: ['id'] }), 0)
})
