import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { appendFile, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { beginNewLiveJob } from '../../../test/support/live/sessions/test-live-jobs.ts'
import { bytesOf } from '../../../test/support/storage/objects/objects-conformance.ts'
import { mountSmallDisk } from '../../../test/support/storage/small-disk.ts'
import { makeFolder, openFolder } from '../../../test/support/storage/test-storage.ts'
import { fillStore } from '../../../test/support/storage/upgrades/filled-store.ts'
import { databaseFile } from '../data-folder/data-folder.ts'
import { insertRecording } from '../recordings/recordings.ts'
import { checkBackup } from './check-backup.ts'
import { openLiveDatabase } from './database-copy.ts'
import { listSnapshots } from './manifest.ts'
import { type RestoreOptions, restoreBackup } from './restore-backup.ts'
import { type BackupOptions, takeBackup } from './take-backup.ts'

const { signal } = new AbortController()
const KEY = Buffer.alloc(32, 7)
const FILLING = { jobs: 5, objects: 5 }

/** A filled data folder, and functions that back it up and restore it. */
async function prepare(t: TestContext, { key }: { key?: Uint8Array } = {}) {
  const folder = await fillStore(t, FILLING)
  const target = join(await makeFolder(t), 'backup')
  const options = { folder, target, key, keep: 7, atOnce: 1, signal }
  return {
    folder,
    target,
    take: (given: Partial<BackupOptions> = {}) => takeBackup({ ...options, ...given }),
    check: (given = key) => checkBackup({ target, key: given, signal }),
    async restore(given: Partial<RestoreOptions> = {}): Promise<string> {
      const usual = { folder: await makeFolder(t), snapshot: undefined, account: undefined }
      const all = { ...usual, source: target, key, signal, ...given }
      await restoreBackup(all)
      return all.folder
    },
  }
}

/** Returns all rows of all tables but those of the servers, and all objects, as text. */
async function contentOf(folder: string): Promise<Record<string, unknown>> {
  const database = new DatabaseSync(databaseFile(folder))
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' and name <> 'owners'`)
    .all() as { name: string }[]
  const rows = tables.map(({ name }) => [name, database.prepare(`select * from ${name}`).all()])
  database.close()
  const objects = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
  const bytes = objects
    .filter((one) => one.isFile())
    .map(async ({ parentPath, name }) => [name, await readFile(join(parentPath, name), 'latin1')])
  return { ...Object.fromEntries(rows), objects: Object.fromEntries(await Promise.all(bytes)) }
}

async function objectFiles(target: string): Promise<string[]> {
  const found = await readdir(join(target, 'objects'), { recursive: true, withFileTypes: true })
  return found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
}

for (const key of [undefined, KEY]) {
  const how = key ? 'encrypted' : 'plain'

  test(`a ${how} backup restores the same data folder`, async (t) => {
    const { folder, target, take, check, restore } = await prepare(t, key && { key })
    await writeFile(join(folder, 'steno.sqlite.clock'), '{"seenAt":1}')
    const first = await take()
    assert.equal(first.copied.objects, FILLING.objects)
    assert.deepEqual((await check()).problems, [])
    const restored = await restore()
    assert.deepEqual(await contentOf(restored), await contentOf(folder))
    assert.equal(await readFile(join(restored, 'steno.sqlite.clock'), 'utf8'), '{"seenAt":1}')
    const storage = await openFolder(restored)
    await storage.swept
    await storage.close()
    assert.ok(!(await readdir(restored)).includes('orphans'))
    const stored = await readFile((await objectFiles(target))[0]!, 'utf8')
    assert.equal(/^(\d+ )+$/.test(stored), !key)
  })

  test(`damage of a ${how} backup is found, named and not restored`, async (t) => {
    const { target, take, check, restore } = await prepare(t, key && { key })
    const { snapshot } = await take()
    const [flipped, cut, gone] = (await objectFiles(target)) as [string, string, string]
    const bytes = await readFile(flipped)
    bytes[bytes.length - 20]! ^= 1
    await writeFile(flipped, bytes)
    await truncate(cut, (await readFile(cut)).length - 30)
    await rm(gone)
    const { problems } = await check()
    assert.equal(problems.length, 3)
    const idOf = (path: string) => path.split('/').at(-1)!
    assert.match(
      problems.find((one) => one.includes(idOf(flipped)))!,
      /its content (is not|was ch)/,
    )
    assert.match(problems.find((one) => one.includes(idOf(cut)))!, /truncated/)
    assert.match(problems.find((one) => one.includes(idOf(gone)))!, /it is missing/)
    const folder = await makeFolder(t)
    const remedy = `--check' finds all damage, --snapshot NAME restores another snapshot (${snapshot})`
    await assert.rejects(restore({ folder }), ({ message }: Error) => {
      return /^Cannot restore from \S+: objects\//.test(message) && message.endsWith(remedy)
    })
    assert.ok(!(await readdir(folder)).includes('steno.sqlite'), 'no server starts on it')
    for (const name of ['steno.sqlite', 'manifest']) {
      const file = join(target, 'snapshots', snapshot, name)
      const content = await readFile(file)
      await writeFile(file, content.subarray(0, -40))
      const found = (await check()).problems.filter((one) => one.includes(`${snapshot}/${name}`))
      assert.equal(found.length, 1, name)
    }
  })
}

test('a damaged object is copied again once detected', async (t) => {
  const { target, take, check, restore, folder } = await prepare(t)
  await take()
  const [flipped, wrong] = (await objectFiles(target)) as [string, string]
  const bytes = await readFile(flipped)
  bytes[0]! ^= 1
  await writeFile(flipped, bytes)
  const index = join(target, 'copied.jsonl')
  const lines = (await readFile(index, 'utf8')).split('\n').map((line) => {
    return line.includes(wrong.split('/').at(-1)!)
      ? line.replace(/"\w{8}(\w+"\])$/, '"00000000$1')
      : line
  })
  await writeFile(index, lines.join('\n'))
  assert.equal((await take()).copied.objects, 0)
  assert.deepEqual([(await check()).problems.length, (await check()).unlisted], [2, 2])
  assert.equal((await take({ keep: 1 })).copied.objects, 2)
  assert.deepEqual(await check().then(({ problems }) => problems), [])
  assert.deepEqual(await contentOf(await restore()), await contentOf(folder))
})

test('a well-formed manifest with invalid contents is reported as damaged', async (t) => {
  const { target, take, check } = await prepare(t)
  const { snapshot } = await take()
  const file = join(target, 'snapshots', snapshot, 'manifest')
  const [head = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(0, -1)
  const known = JSON.parse(head)
  for (const changed of [
    { ...known, missing: null },
    { ...known, missing: ['../../etc/passwd'] },
    { ...known, takenAt: 1e300 },
    { ...known, files: [] },
    { ...known, files: [...known.files, { name: '../x', size: 0, digest: known.files[0].digest }] },
    { ...known, files: known.files.map((one: object) => ({ ...one, size: '1' })) },
  ]) {
    const content = [JSON.stringify(changed), ...lines, ''].join('\n')
    const end = createHash('sha256').update(content).digest('hex')
    await writeFile(file, `${content}${JSON.stringify({ end })}\n`)
    const { problems, files } = await check()
    assert.equal(files, 0, JSON.stringify(changed))
    assert.match(problems.join(), /manifest: it (is damaged|names files)/)
  }
})

test('a malformed backup.json is reported as damaged', async (t) => {
  const { target, take, check } = await prepare(t)
  await take()
  for (const head of ['null', '7', '{"format":1,"salt":5}', '{"format":1,"check":["ab"]}']) {
    await writeFile(join(target, 'backup.json'), head)
    await assert.rejects(check(), /backup.json: it is damaged/, head)
  }
})

test('only new objects are copied, and unreferenced ones are removed', async (t) => {
  const { folder, target, take, check, restore } = await prepare(t)
  const { snapshot: first } = await take()
  const storage = await openFolder(folder)
  const id = randomUUID()
  const { size } = await storage.objects.write(id, bytesOf('new'), { maxBytes: 10, signal })
  const form = { filename: null, source: null, extension: 'wav', duration: 1, channels: 1 }
  await insertRecording(storage.db, { ...form, id, size, account: 'acme', createdAt: 1 })
  const others = storage.db.sql.selectFrom('files').select('id').where('id', '<>', id)
  const [old] = await others.limit(1).execute()
  await storage.db.sql.deleteFrom('files').where('id', '=', old!.id).execute()
  await storage.objects.delete(old!.id)
  const second = await take()
  assert.deepEqual(second.copied, { objects: 1, size: 3 })
  assert.equal((await objectFiles(target)).length, FILLING.objects + 1)
  const before = await contentOf(await restore({ snapshot: first }))
  assert.ok(old!.id in (before.objects as object) && !(id in (before.objects as object)))
  await storage.close()
  await take({ keep: 1 })
  assert.equal((await listSnapshots(target)).length, 1)
  assert.equal((await objectFiles(target)).length, FILLING.objects)
  assert.deepEqual((await check()).problems, [])
  await assert.rejects(restore({ snapshot: first }), /Cannot find the snapshot/)
})

test('objects deleted during the backup are skipped, lost ones are named', async (t) => {
  const { folder, take, check, restore } = await prepare(t)
  const database = new DatabaseSync(databaseFile(folder))
  t.after(() => database.close())
  const ids = database.prepare('select id from files order by id').all() as { id: string }[]
  const [, lost] = ids.map(({ id }) => id)
  const { id: deleted } = ids.at(-1)!
  const remove = (id: string) => rm(join(folder, 'objects', id.slice(0, 2), id))
  await remove(lost!)
  let rounds = 0
  let removing: Promise<void> | undefined
  const { missing } = await take({
    onProgress(stage, done) {
      if (stage === 'copying the database') rounds++
      if (stage !== 'copying objects' || done === 0 || removing) return
      database.prepare('delete from files where id = ?').run(deleted)
      removing = remove(deleted)
    },
  })
  await removing
  assert.deepEqual([missing, rounds], [[lost], 2])
  const restored = await contentOf(await restore())
  assert.ok(!JSON.stringify(restored.files).includes(deleted))
  assert.match((await check()).problems.join(), new RegExp(`${lost} was lost before`))
})

test('an interrupted backup or restoration is resumed', async (t) => {
  const { folder, target, take, restore } = await prepare(t)
  const stop = new AbortController()
  const onProgress = (stage: string, done: number) => {
    if (stage === 'copying objects' && done > 0) stop.abort()
  }
  await assert.rejects(take({ signal: stop.signal, onProgress }), { name: 'AbortError' })
  assert.deepEqual(await listSnapshots(target), [])
  const begun = (await objectFiles(target)).length
  assert.ok(begun > 0 && begun < FILLING.objects)
  await appendFile(join(target, 'copied.jsonl'), '["half')
  const { copied } = await take()
  assert.equal(copied.objects, FILLING.objects - begun)
  const stopped = new AbortController()
  const half = await makeFolder(t)
  const options = { folder: half, signal: stopped.signal, onProgress: () => stopped.abort() }
  await assert.rejects(restore(options), { name: 'AbortError' })
  await assert.rejects(openFolder(half), /restor/i)
  await restore({ folder: half })
  assert.deepEqual(await contentOf(half), await contentOf(folder))
})

test('an open live session is included as far as it is written', async (t) => {
  const { folder, take, restore } = await prepare(t)
  const storage = await openFolder(folder)
  const { id } = await beginNewLiveJob(storage.db)
  const session = join(folder, 'live', id)
  await mkdir(session, { recursive: true })
  await writeFile(join(session, 'sound'), 'sound and more')
  await writeFile(join(session, 'log'), 'a line\n')
  await take()
  const restored = await restore()
  for (const [name, text] of [
    ['sound', 'sound and more'],
    ['log', 'a line\n'],
  ] as const) {
    assert.equal(await readFile(join(restored, 'live', id, name), 'utf8'), text)
  }
  await storage.close()
})

test('one account is restored without data of others', async (t) => {
  const { folder, take, restore } = await prepare(t)
  const storage = await openFolder(folder)
  const id = randomUUID()
  await storage.objects.write(id, bytesOf('of another'), { maxBytes: 10, signal })
  const form = { filename: 'secret.wav', source: null, extension: 'wav', duration: 1, channels: 1 }
  await insertRecording(storage.db, { ...form, id, size: 10, account: 'umbra', createdAt: 1 })
  await storage.close()
  const database = new DatabaseSync(databaseFile(folder))
  database.exec(`insert into jobs (id, account, kind, status, created_at, completed_at, run_after)
    values ('j', 'umbra', 'pre-recorded', 'done', 1, 2, 0);
    insert into utterances (job_id, n, start, "end", channel, language, text, owner, terms)
    values ('j', 0, 0, 1, 0, 'en', 'said by umbra', 'umbra', 'said by umbra')`)
  database.close()
  await take()
  const restored = await restore({ account: 'umbra' })
  const content = await contentOf(restored)
  const { files, jobs, utterances, keys, job_metadata, objects, account_bytes } = content
  const counts = [jobs, utterances, keys, job_metadata].map((rows) => (rows as unknown[]).length)
  assert.deepEqual(counts, [1, 1, 0, 0])
  assert.equal((files as unknown[]).length, 1)
  assert.deepEqual(objects, { [id]: 'of another' })
  assert.deepEqual(JSON.stringify(account_bytes), '[{"account":"umbra","bytes":12}]')
  const others = await restore({ account: 'acme' })
  const bytes = await readFile(databaseFile(others), 'latin1')
  assert.ok(!bytes.includes('umbra') && !bytes.includes('secret.wav'))
  assert.equal(((await contentOf(others)).jobs as unknown[]).length, FILLING.jobs)
  await assert.rejects(restore({ account: 'nobody' }), /nothing of an account 'nobody'/)
})

test('wrong keys, folders in use and foreign folders are rejected', async (t) => {
  const { folder, target, take, check, restore } = await prepare(t, { key: KEY })
  await assert.rejects(check(), /Cannot find a backup/)
  await assert.rejects(take({ key: Buffer.alloc(31) }), /has 31 bytes, at least 32/)
  await take()
  await assert.rejects(check(Buffer.alloc(32)), /The key cannot decrypt the backup/)
  const keyless = { target, key: undefined, signal }
  await assert.rejects(checkBackup(keyless), /is encrypted: name its key/)
  await assert.rejects(restore({ folder }), /Cannot restore into .*: it is not empty/)
  await assert.rejects(take({ target: join(folder, 'b') }), /it is inside the data folder/)
  const other = await makeFolder(t)
  await writeFile(join(other, 'diary.txt'), '')
  await assert.rejects(take({ target: other }), /it holds other files/)
  await assert.rejects(take({ folder: other }), /Cannot find a database/)
  await writeFile(databaseFile(other), 'diary')
  const unopened =
    /Cannot open the database .*steno\.sqlite: file is not a database; move everything/
  await assert.rejects(take({ folder: other }), unopened)
  const plain = { target: join(await makeFolder(t), 'plain') }
  await take({ ...plain, key: undefined })
  await assert.rejects(take(plain), /is not encrypted: leave --key-file out/)
})

test('a server that starts on a file system that was read-only fails the copy', async (t) => {
  const disk = mountSmallDisk(4_000_000)
  if (!disk) return t.skip('needs the right to mount a small disk')
  t.after(() => disk.unmount())
  const { close } = await openFolder(disk.folder)
  await close()
  execFileSync('mount', ['-o', 'remount,ro', disk.folder])
  const file = databaseFile(disk.folder)
  using database = openLiveDatabase(file)
  const copies = await makeFolder(t)
  await database.copyTo(join(copies, 'unchanged'))
  execFileSync('mount', ['-o', 'remount,rw', disk.folder])
  await writeFile(`${file}-wal`, '')
  await assert.rejects(database.copyTo(join(copies, 'changed')), /A server was started on/)
})
