import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { checkPrivacy } from '../../../src/cli/operations/doctor/checks.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { runSteno } from '../../support/cli/run-steno.ts'
import { upload } from '../../support/net/http-client.ts'
import { startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

/** Children of this test get a umask that closes nothing. */
function loosenUmask(t: TestContext): void {
  const before = process.umask(0)
  t.after(() => process.umask(before))
}

/** The paths below `folder` that others of this machine could read, write or enter. */
async function openFiles(folder: string): Promise<string[]> {
  const names = ['.', ...(await readdir(folder, { recursive: true }))]
  const modes = names.map(async (name) => (await stat(join(folder, name))).mode & 0o077)
  const open = await Promise.all(modes)
  return names.filter((_, i) => open[i] !== 0)
}

test('files created in an existing folder are accessible only to their user', async (t) => {
  loosenUmask(t)
  const folder = join(await makeFolder(t), 'data')
  await mkdir(folder, { mode: 0o755 })
  const server = (await startChild(t, folder))!
  await upload(server, createToneWav(1))
  assert.deepEqual(await openFiles(folder), [])
  server.process.kill('SIGTERM')
  await server.ended
})

test('steno keys creates a database accessible only to its user', async (t) => {
  loosenUmask(t)
  const folder = join(await makeFolder(t), 'data')
  await mkdir(folder, { mode: 0o755 })
  const { code } = await runSteno(['keys', 'create'], { env: { STENO_DATA_DIR: folder } })
  assert.equal(code, 0)
  assert.deepEqual(await openFiles(folder), ['.'])
})

test('doctor reports files accessible to others and how to restrict them', async (t) => {
  const folder = await makeFolder(t)
  const config = readConfig({ STENO_DATA_DIR: folder })
  await writeFile(join(folder, 'steno.sqlite'), '')
  await writeFile(join(folder, 'notes.txt'), '')
  await chmod(join(folder, 'steno.sqlite'), 0o640)
  assert.equal((await checkPrivacy(config)).state, 'ok', 'nobody comes that far')
  await chmod(folder, 0o755)
  const { state, text, remedy } = await checkPrivacy(config)
  assert.equal(state, 'warn')
  assert.match(text, /can open \S+\/steno\.sqlite$/)
  assert.match(remedy!, /next start closes them/)
})
