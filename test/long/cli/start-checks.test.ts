import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { checkDatabase, checkDataFolder } from '../../../src/cli/operations/doctor/checks.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import { openStorage } from '../../../src/storage/storage.ts'
import { runSteno } from '../../support/cli/run-steno.ts'
import { makeFolder, openTestStorage } from '../../support/storage/test-storage.ts'

/** A data folder with a database and a recording, and no server. */
async function makeDataFolder(t: TestContext): Promise<string> {
  const folder = await makeFolder(t)
  const storage = await openStorage({ folder, log: createLog('silent') })
  await storage.close()
  mkdirSync(join(folder, 'objects', 'ab'))
  writeFileSync(join(folder, 'objects', 'ab', 'ab000000-0000-4000-8000-000000000000'), 'recording')
  return folder
}

/** How `steno serve` ends on this folder; what it says is one line. */
async function serve(folder: string, env: Record<string, string> = {}): Promise<string> {
  const settings = {
    STENO_DATA_DIR: folder,
    STENO_PORT: '0',
    STENO_WORKERS: '1',
    STENO_LIVE_SLOTS: '0',
    ...env,
  }
  const { code, stderr, stdout } = await runSteno(['serve'], { env: settings })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /^steno serve: Cannot [^\n]*\n$/)
  return stderr.slice('steno serve: '.length).trimEnd()
}

type Damage = { name: string; does(folder: string): void; says: RegExp }

const damages: Damage[] = [
  {
    name: 'a database of a newer version',
    does(folder) {
      const database = new DatabaseSync(join(folder, 'steno.sqlite'))
      database.exec('update schema_version set version = 99')
      database.close()
    },
    says: /^Cannot open the database: it has version 99, this program supports version \d+; start the newer program that made it, or restore an older backup$/,
  },
  {
    name: 'a database that is none',
    does: (folder) => writeFileSync(join(folder, 'steno.sqlite'), Buffer.alloc(9000, 'garbage')),
    says: /^Cannot open the database \S+steno\.sqlite: file is not a database; move everything in /,
  },
  {
    name: 'a database that was cut off',
    does(folder) {
      const file = join(folder, 'steno.sqlite')
      truncateSync(file, statSync(file).size / 2)
    },
    says: /^Cannot open the database \S+steno\.sqlite: .* malformed; move everything in \S+ elsewhere, then run 'steno restore' with your folder of backups$/,
  },
  {
    name: 'a database that is empty',
    does: (folder) => truncateSync(join(folder, 'steno.sqlite')),
    says: /^Cannot open the database \S+steno\.sqlite: it is gone, but not its objects; move everything/,
  },
  {
    name: 'a lock that is none',
    does: (folder) => writeFileSync(join(folder, 'server.lock'), Buffer.alloc(9000, 'garbage')),
    says: /^Cannot open the data folder: \S+server\.lock: file is not a database \(it has no data: delete it\)$/,
  },
]

for (const { name, does, says } of damages) {
  test(`${name} prevents the start with one line, and doctor reports the same`, async (t) => {
    const folder = await makeDataFolder(t)
    assert.equal((await checkDatabase(configOf(folder))).state, 'ok')
    does(folder)
    const line = await serve(folder)
    assert.match(line, says)
    const { state, text } = await checkDatabase(configOf(folder))
    assert.deepEqual([state, text], ['fail', line])
  })
}

function configOf(folder: string) {
  return readConfig({ STENO_DATA_DIR: folder })
}

test('doctor distinguishes a folder without a database from one in use', async (t) => {
  const { folder } = await openTestStorage(t)
  const used = await checkDatabase(configOf(folder))
  assert.deepEqual([used.state, used.text.includes('a running server uses')], ['ok', true])
  const none = await checkDatabase(configOf(join(folder, 'none')))
  assert.deepEqual(none, { state: 'ok', text: 'no database yet' })
})

test('a full disk prevents the start with one line, and doctor reports the same', async (t) => {
  const folder = await makeFolder(t)
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return t.skip('needs the right to mount a small disk')
  }
  try {
    assert.equal((await checkDataFolder(configOf(disk))).state, 'warn')
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(1024 * 1024 - 4096))
    const line = await serve(disk)
    assert.match(line, /^Cannot start: data folder \S+, 0 MB free; free some space, or set STENO/)
    const { state, text, remedy } = await checkDataFolder(configOf(disk))
    assert.deepEqual([state, `Cannot start: ${text}; ${remedy}`], ['fail', line])
  } finally {
    execFileSync('umount', [disk])
    rmdirSync(disk)
  }
})

test('files of another user prevent the start with one line, and doctor reports the same', async (t) => {
  const folder = await makeDataFolder(t)
  assert.equal((await checkDataFolder(configOf(folder))).state, 'ok')
  // Root may use every folder, but enters no file.
  const closed = join(folder, process.getuid?.() === 0 ? 'live' : 'objects/ab')
  rmSync(closed, { recursive: true, force: true })
  writeFileSync(closed, '', { mode: 0o400 })
  const line = await serve(folder)
  assert.match(line, /^Cannot start: data folder \S+: this user may not read and write \S+; give/)
  const { state, text, remedy } = await checkDataFolder(configOf(folder))
  assert.deepEqual([state, `Cannot start: ${text}; ${remedy}`], ['fail', line])
})

test('doctor reports a place that holds no new folder', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  const { state, text } = await checkDataFolder(configOf('/proc/steno'))
  assert.deepEqual([state, text], ['fail', 'data folder /proc/steno cannot be written'])
})

test('a data folder that is a link to nothing is reported', async (t) => {
  const link = join(await makeFolder(t), 'data')
  symlinkSync('none', link)
  const { state, text } = await checkDataFolder(configOf(link))
  assert.deepEqual([state, text], ['fail', `data folder ${link} cannot be written`])
})

test('doctor continues without a folder of temporary files', async (t) => {
  const folder = await makeFolder(t)
  const env = { STENO_MODELS_DIR: folder, STENO_DATA_DIR: folder, TMPDIR: join(folder, 'none') }
  const { code, stdout } = await runSteno(['doctor'], { env })
  assert.match(stdout, /^fail {2}temporary files: .*\n {6}\u2192 set TMPDIR/m)
  assert.match(stdout, /^ok {4}no database yet$/m)
  assert.equal(code, 1)
})

test('invalid settings are reported all at once, one per line', async () => {
  const env = { STENO_PORT: 'x', STENO_WORKERS: 'two', STENO_RATE_LIMIT: 'fast' }
  const { code, stdout, stderr } = await runSteno(['serve'], { env })
  assert.deepEqual([code, stdout], [2, ''])
  const lines = stderr.trim().split('\n')
  const named = lines.map((line) => /^steno serve: (STENO_\w+) must /.exec(line)?.[1])
  assert.deepEqual(named, ['STENO_PORT', 'STENO_RATE_LIMIT', 'STENO_WORKERS', undefined])
  assert.equal(lines.at(-1), "See 'steno serve --help'")
})
