import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import {
  appendFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  audioAfter,
  audioAt,
  lineOf,
  openOrCreate,
} from '../../../test/support/live/session-audio.ts'
import {
  assertStored,
  linesOf,
  testSessionStore,
  writeCalls,
} from '../../../test/support/live/stores/session-store-conformance.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { openDiskObjects } from '../objects/disk/disk-objects.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import { openOrphans } from '../objects/orphans/orphans.ts'
import {
  createDiskSessionStore,
  type DiskSessionStore,
  openDiskSessionStore,
  removeDiskSessionStore,
  removeStaleSessions,
  storeRecording,
} from './disk-session-store.ts'

async function makeSession(t: TestContext): Promise<{ folder: string; store: DiskSessionStore }> {
  const folder = join(await makeFolder(t), 'live', 'session')
  const store = await createDiskSessionStore(folder)
  t.after(() => store.close())
  return { folder, store }
}

async function reopen(t: TestContext, folder: string): Promise<DiskSessionStore> {
  const store = await openDiskSessionStore(folder, { audioAfter })
  t.after(() => store.close())
  return store
}

/** Checks that everything reported by the first `count` lines exists, and nothing else. */
async function assertWhole(store: DiskSessionStore, count?: number): Promise<number> {
  const lines = await assertStored(store, count)
  const { size } = await stat(store.audioPath)
  assert.equal(Math.max(store.audioStart, size), store.audioBytes + 44)
  return lines
}

testSessionStore('disk session store', async (t) => {
  const { folder, store } = await makeSession(t)
  return { store, reopen: () => reopen(t, folder) }
})

test('the audio file has space for a header at its start', async (t) => {
  const { store } = await makeSession(t)
  assert.equal(store.audioStart, 44)
  await Promise.all(writeCalls(store, { count: 500 }))
  await assertWhole(store, 500)
  assert.ok((await readFile(store.audioPath)).subarray(44).equals(audioAt(0, 50_000)))
})

test('opening a store syncs what an earlier process wrote', async (t) => {
  const { folder, store } = await makeSession(t)
  await Promise.all(writeCalls(store, { count: 4 }))
  await store.close()
  const synced = await watchSyncs(t, folder)
  await reopen(t, folder)
  assert.equal(synced.count, 2)
})

/** Counts the syncs of files from now on. */
async function watchSyncs(t: TestContext, folder: string): Promise<{ readonly count: number }> {
  await using handle = await open(join(folder, 'log'))
  const store = Object.getPrototypeOf(handle) as FileHandle
  const { mock } = t.mock.method(store, 'datasync')
  return {
    get count() {
      return mock.callCount()
    },
  }
}

test('opening a missing session or creating an existing one fails', async (t) => {
  const { folder, store } = await makeSession(t)
  await assert.rejects(openDiskSessionStore(`${folder}2`, { audioAfter }), {
    code: 'file_not_found',
  })
  await Promise.all(writeCalls(store, { count: 1 }))
  await assert.rejects(createDiskSessionStore(folder), /not empty|exists/i)
  await assertWhole(store, 1)
})

test('an interrupted creation is started over', async (t) => {
  const folder = join(await makeFolder(t), 'session')
  await mkdir(`${folder}.new`)
  await writeFile(join(`${folder}.new`, 'log'), 'half\n')
  const store = await createDiskSessionStore(folder)
  t.after(() => store.close())
  assert.deepEqual(await linesOf(store), [])
  assert.deepEqual(await readdir(join(folder, '..')), ['session'])
})

test('a torn log line and unrecorded audio are dropped on opening', async (t) => {
  const { folder, store } = await makeSession(t)
  await Promise.all(writeCalls(store, { count: 3 }))
  await store.close()
  await appendFile(join(folder, 'log'), lineOf(3, 400).slice(0, 9))
  await appendFile(store.audioPath, 'sound of a line that never came')
  const second = await reopen(t, folder)
  await assertWhole(second, 3)
  await Promise.all(writeCalls(second, { from: 3, count: 2 }))
  await second.close()
  await assertWhole(await reopen(t, folder), 5)
})

test('after a power loss the log ends before missing audio or zeros', async (t) => {
  const { folder, store } = await makeSession(t)
  await Promise.all(writeCalls(store, { count: 5 }))
  await store.close()
  await truncate(store.audioPath, 44 + 399)
  await assertWhole(await reopen(t, folder), 3)
  await appendFile(join(folder, 'log'), `\0\0\0\0${lineOf(3, 300)}\n${lineOf(4, 300)}\n`)
  await assertWhole(await reopen(t, folder), 3)
  await truncate(store.audioPath, 0)
  await assertWhole(await reopen(t, folder), 0)
})

test('after a kill everything acknowledged is complete', async (t) => {
  const folder = join(await makeFolder(t), 'live', randomUUID())
  const fixture = fileURLToPath(
    new URL('../../../test/support/live/session-audio.ts', import.meta.url),
  )
  const random = createRandom(11)
  let before = 0
  for (let kills = 0; kills < 12; kills++) {
    const args = ['--disable-warning=ExperimentalWarning', fixture, folder, String(kills)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const killAfter = 1 + Math.floor(random() ** 3 * 400)
    let written = 0
    let sent = 0
    for await (const line of createInterface(child.stdout)) {
      sent = Math.max(sent, Number(line))
      if (++written === killAfter) child.kill('SIGKILL')
    }
    const store = await openDiskSessionStore(folder, { audioAfter })
    const count = await assertWhole(store)
    await store.close()
    assert.ok(written >= killAfter && count >= sent && sent > before, `${count} lines of ${sent}`)
    before = count
  }
})

test('a full disk fails waiting writes, and later ones succeed', async (t) => {
  const disk = join(await makeFolder(t), 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return t.skip('needs the right to mount a small disk')
  }
  try {
    const folder = join(disk, 'session')
    const store = await createDiskSessionStore(folder)
    await Promise.all(writeCalls(store, { count: 10 }))
    await writeFile(join(disk, 'ballast'), Buffer.alloc(900_000))
    const outcomes = await Promise.allSettled([
      store.write(audioAt(1000, 301_000), [lineOf(10, 301_000)]),
      store.write(audioAt(301_000, 301_100), [lineOf(11, 301_100)]),
      store.sync(),
    ])
    for (const outcome of outcomes) {
      assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'storage_full')
    }
    await assertWhole(store, 10)
    await truncate(join(disk, 'ballast'), 0)
    await Promise.all([...writeCalls(store, { from: 10, count: 10 }), store.sync()])
    await store.close()
    const again = await openDiskSessionStore(folder, { audioAfter })
    await assertWhole(again, 20)
    await again.close()
  } finally {
    execFileSync('umount', [disk])
  }
})

async function contentOf(objects: ObjectStore, id: string): Promise<Buffer> {
  return buffer((await objects.read(id)).body)
}

test('the audio becomes a recording that outlives its session', async (t) => {
  const { folder, store } = await makeSession(t)
  const objects = await openDiskObjects(join(await makeFolder(t), 'objects'))
  const id = randomUUID()
  const header = Buffer.alloc(44, 'h')
  void store.write(audioAt(0, 333), [lineOf(0, 333)])
  const expected = Buffer.concat([header, audioAt(0, 333), Buffer.alloc(1)])
  assert.deepEqual(await storeRecording(store, objects, { id, header }), { size: 378 })
  assert.ok((await contentOf(objects, id)).equals(expected))

  // The server was killed before it recorded that: the next one does it again.
  await store.close()
  const second = await reopen(t, folder)
  await assertWhole(second, 1)
  assert.deepEqual(await storeRecording(second, objects, { id, header }), { size: 378 })
  assert.ok((await contentOf(objects, id)).equals(expected))

  await removeDiskSessionStore(folder)
  await removeDiskSessionStore(folder)
  assert.ok((await contentOf(objects, id)).equals(expected))
})

test('an even-length recording has no pad byte, an empty one only a header', async (t) => {
  const { store } = await makeSession(t)
  const objects = await openDiskObjects(join(await makeFolder(t), 'objects'))
  const header = Buffer.alloc(44, 'h')
  for (const [size, audio] of [
    [44, 0],
    [46, 2],
  ] as const) {
    if (audio > 0) await store.write(audioAt(0, audio), [lineOf(0, audio)])
    const id = randomUUID()
    assert.deepEqual(await storeRecording(store, objects, { id, header }), { size })
    assert.ok((await contentOf(objects, id)).equals(Buffer.concat([header, audioAt(0, audio)])))
  }
  const wrong = { id: randomUUID(), header: Buffer.alloc(46) }
  await assert.rejects(storeRecording(store, objects, wrong), RangeError)
})

test('folders of ended sessions are removed, those of open ones are kept', async (t) => {
  const parent = join(await makeFolder(t), 'live')
  await removeStaleSessions(parent, new Map())
  const ids = [randomUUID(), randomUUID()]
  for (const id of ids) await (await openOrCreate(join(parent, id))).close()
  await mkdir(join(parent, `${ids[0]}.new`))
  await removeStaleSessions(parent, new Map([[ids[0]!, 'open']]))
  assert.deepEqual(await readdir(parent), [ids[0]])
  await (await reopen(t, join(parent, ids[0]!))).close()
})

test('the folder of an unknown session is moved aside and restored later', async (t) => {
  const folder = await makeFolder(t)
  const parent = join(folder, 'live')
  const orphans = openOrphans(
    join(folder, 'orphans'),
    await openDiskObjects(join(folder, 'objects')),
  )
  const [unknown, ended] = [randomUUID(), randomUUID()]
  for (const id of [unknown, ended]) await (await openOrCreate(join(parent, id))).close()
  // Left by a kill while it was created; a second one of this name must not stop a start.
  await mkdir(join(parent, `${unknown}.new`))
  await removeStaleSessions(parent, new Map([[ended, 'ended']]), orphans)
  assert.deepEqual(await readdir(parent), [])
  assert.deepEqual(await readdir(join(folder, 'orphans')), [`live-${unknown}`])
  for (const id of [unknown, ended]) await orphans.restoreSession(join(parent, id))
  assert.deepEqual(await readdir(parent), [unknown])
})
