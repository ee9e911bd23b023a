import assert from 'node:assert/strict'
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { addFile } from '../../../../test/support/jobs/test-jobs.ts'
import { captureLog } from '../../../../test/support/server/captured-log.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { openStorage } from '../../storage.ts'
import { objectPath } from './disk-objects.ts'
import { findAccessibleFiles, restrictAccess } from './file-modes.ts'

const FOLDERS = ['cache', 'decrypted', 'live', 'live-copies', 'orphans', 'work']
const OBJECT = '00000000-0000-4000-8000-000000000000'

/** Creates a data folder as a program with a loose umask would. */
async function makeOpenFolder(folder: string): Promise<void> {
  for (const name of ['.', 'objects', 'objects/00', ...FOLDERS]) {
    await mkdir(join(folder, name), { recursive: true })
    await chmod(join(folder, name), 0o755)
  }
  for (const name of ['steno.sqlite', 'server.lock', `objects/00/${OBJECT}`]) {
    await writeFile(join(folder, name), '', { mode: 0o644 })
    await chmod(join(folder, name), 0o644)
  }
}

async function modeOf(...path: string[]): Promise<number> {
  return (await stat(join(...path))).mode & 0o777
}

test('a data folder accessible to others is restricted with its contents', async (t) => {
  const folder = await makeFolder(t)
  await makeOpenFolder(folder)
  const open = await restrictAccess(folder)
  const names = ['objects', 'server.lock', 'steno.sqlite', ...FOLDERS]
  assert.deepEqual(open.toSorted(), [folder, ...names.map((name) => join(folder, name))].toSorted())
  for (const name of ['.', 'objects', ...FOLDERS]) assert.equal(await modeOf(folder, name), 0o700)
  for (const name of ['steno.sqlite', 'server.lock'])
    assert.equal(await modeOf(folder, name), 0o600)
  assert.deepEqual(await findAccessibleFiles(folder), [])
})

test('a folder with foreign files keeps its mode, and only own files are restricted', async (t) => {
  const folder = await makeFolder(t)
  await makeOpenFolder(folder)
  await writeFile(join(folder, 'notes.txt'), '')
  await chmod(join(folder, 'notes.txt'), 0o644)
  await restrictAccess(folder)
  assert.equal(await modeOf(folder), 0o755)
  assert.equal(await modeOf(folder, 'notes.txt'), 0o644)
  assert.equal(await modeOf(folder, 'objects'), 0o700)
  assert.equal(await modeOf(folder, 'steno.sqlite'), 0o600)
})

test('the start restricts the folder, logs it once and restricts new recordings', async (t) => {
  const folder = await makeFolder(t)
  const { log, lines } = captureLog()
  const first = await openStorage({ folder, log })
  const id = await addFile(first.db)
  const path = objectPath(join(folder, 'objects'), id)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'x')
  await first.close()
  for (const one of [folder, join(folder, 'objects'), dirname(path)]) await chmod(one, 0o755)
  for (const one of [path, join(folder, 'steno.sqlite')]) await chmod(one, 0o644)

  const second = await openStorage({ folder, log })
  await second.swept
  assert.equal(await modeOf(folder), 0o700)
  assert.equal(await modeOf(folder, 'steno.sqlite'), 0o600)
  assert.equal(await modeOf(dirname(path)), 0o700)
  assert.equal(await modeOf(path), 0o600)
  await second.close()
  const before = lines.length
  await (await openStorage({ folder, log })).close()
  assert.equal(lines[before - 1]?.msg, 'removed the access of other users to files')
  assert.equal(lines.length, before)
})
