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
import { createRandom } from '../../../test/support/random.ts'
import { makeFolder } from '../../../test/support/test-storage.ts'
import { openDiskObjects } from '../objects/disk-objects.ts'
import type { Objects } from '../objects/objects.ts'
import { openOrphans } from '../objects/orphans.ts'
import { audioAfter, audioAt, lineOf, openOrCreate } from './live-files.fixture.ts'
import {
  createLiveFiles,
  keepRecording,
  type LiveFiles,
  openLiveFiles,
  removeLiveFiles,
  removeStaleLiveFiles,
} from './live-files.ts'

async function makeSession(t: TestContext): Promise<{ folder: string; files: LiveFiles }> {
  const folder = join(await makeFolder(t), 'live', 'session')
  const files = await createLiveFiles(folder)
  t.after(() => files.close())
  return { folder, files }
}

async function reopen(t: TestContext, folder: string): Promise<LiveFiles> {
  const files = await openLiveFiles(folder, { audioAfter })
  t.after(() => files.close())
  return files
}

async function linesOf(files: LiveFiles): Promise<string[]> {
  return (await Array.fromAsync(files.readLines())).flat()
}

/** Checks that everything reported by the first `count` lines exists, and nothing else. */
async function assertWhole(files: LiveFiles, count?: number): Promise<number> {
  const lines = await linesOf(files)
  if (count !== undefined) assert.equal(lines.length, count)
  for (const [n, line] of lines.entries()) assert.equal(JSON.parse(line).n, n)
  const sent = lines.length === 0 ? 0 : audioAfter(lines.at(-1)!)
  assert.equal(files.audioBytes, sent)
  assert.ok(
    audioAt(0, sent).equals(await files.readAudio(0, sent)),
    'the sound is what was written',
  )
  assert.equal(Math.max(files.audioStart, (await stat(files.audioPath)).size), sent + 44)
  return lines.length
}

/** Writes `count` calls of 100 bytes and a line each, all at once. */
function writeCalls(files: LiveFiles, { from = 0, count }: { from?: number; count: number }) {
  return Array.from({ length: count }, (_, i) => {
    const [start, end] = [(from + i) * 100, (from + i + 1) * 100]
    return files.write(audioAt(start, end), [lineOf(from + i, end)])
  })
}

test('what was written is read back, in order, and from its file', async (t) => {
  const { folder, files } = await makeSession(t)
  assert.deepEqual([files.audioBytes, files.audioStart, await linesOf(files)], [0, 44, []])
  const calls = writeCalls(files, { count: 500 })
  assert.equal((await linesOf(files)).length, 500, 'it sees what was given before')
  await Promise.all(calls)
  await assertWhole(files, 500)
  assert.deepEqual(Buffer.from(await files.readAudio(777, 999)), audioAt(777, 999))
  assert.ok((await readFile(files.audioPath)).subarray(44).equals(audioAt(0, 50_000)))
  await files.close()
  await assertWhole(await reopen(t, folder), 500)
})

test('lines may come without sound, sound without lines, and both empty', async (t) => {
  const { folder, files } = await makeSession(t)
  await Promise.all([
    files.write(undefined, [lineOf(0, 0), lineOf(1, 0)]),
    files.write(audioAt(0, 10), []),
    files.write(new Uint8Array(0), []),
    files.write(undefined, [lineOf(2, 10)]),
  ])
  await assertWhole(files, 3)
  await files.write(audioAt(10, 30), [])
  assert.equal(files.audioBytes, 30)
  await files.close()
  await assertWhole(await reopen(t, folder), 3)
})

test('sound that was not written is not read', async (t) => {
  const { files } = await makeSession(t)
  await files.write(audioAt(0, 10), [])
  for (const [from, to] of [
    [0, 11],
    [-1, 4],
    [5, 4],
  ] as const) {
    await assert.rejects(files.readAudio(from, to), RangeError)
  }
  assert.equal((await files.readAudio(10, 10)).length, 0)
})

test('lines longer than any piece are read whole, and many come in pieces', async (t) => {
  const { folder, files } = await makeSession(t)
  const lengths = [10, 300_000, 32_700, 32_768, 5, 70_000, ...Array(3000).fill(100)]
  for (const [n, length] of lengths.entries()) void files.write(undefined, [lineOf(n, 0, length)])
  const pieces = await Array.fromAsync(files.readLines())
  assert.deepEqual(
    pieces.flat(),
    lengths.map((length, n) => lineOf(n, 0, length)),
  )
  assert.ok(pieces.every((lines) => lines.length < 1000))
  await files.close()
  await assertWhole(await reopen(t, folder), lengths.length)
})

test('what is on the disk is read from any line on, and what was only written is not', async (t) => {
  const { folder, files } = await makeSession(t)
  const storedFrom = async (files: LiveFiles, start: number) => {
    return (await Array.fromAsync(files.readStoredLines(start))).flat()
  }
  await Promise.all(writeCalls(files, { count: 3 }))
  assert.deepEqual(await storedFrom(files, 0), [])
  await files.sync()
  await Promise.all(writeCalls(files, { from: 3, count: 1 }))
  const lines = await storedFrom(files, 0)
  assert.deepEqual(
    lines.map(({ text }) => text),
    [lineOf(0, 100), lineOf(1, 200), lineOf(2, 300)],
  )
  assert.deepEqual(await storedFrom(files, lines[0]!.end), lines.slice(1))
  assert.deepEqual(await storedFrom(files, lines[2]!.end), [])
  await files.close()
  const synced = await watchSyncs(t, folder)
  const again = await reopen(t, folder)
  assert.equal(synced.count, 2, 'of what is left all is on the disk')
  assert.equal((await storedFrom(again, 0)).length, 4)
})

/** Counts the syncs of files from now on. */
async function watchSyncs(t: TestContext, folder: string): Promise<{ readonly count: number }> {
  await using handle = await open(join(folder, 'log'))
  const files = Object.getPrototypeOf(handle) as FileHandle
  const { mock } = t.mock.method(files, 'datasync')
  return {
    get count() {
      return mock.callCount()
    },
  }
}

test('calls at the same time share a sync, which waits for what was given before', async (t) => {
  const { files } = await makeSession(t)
  const [call] = writeCalls(files, { count: 1 })
  let isWritten = false
  const written = call!.then(() => {
    isWritten = true
  })
  const sync = files.sync()
  assert.equal(sync, files.sync())
  await sync
  assert.ok(isWritten)
  assert.notEqual(sync, files.sync())
  await Promise.all([written, files.sync()])
})

test('a line with a line break in it is a mistake', async (t) => {
  const { files } = await makeSession(t)
  assert.throws(() => files.write(undefined, ['a\nb']), TypeError)
})

test('a session that is not there cannot be opened, and one that is cannot be made', async (t) => {
  const { folder, files } = await makeSession(t)
  await assert.rejects(openLiveFiles(`${folder}2`, { audioAfter }), { code: 'file_not_found' })
  await Promise.all(writeCalls(files, { count: 1 }))
  await assert.rejects(createLiveFiles(folder), /not empty|exists/i)
  await assertWhole(files, 1)
})

test('a session whose making was cut off is made anew', async (t) => {
  const folder = join(await makeFolder(t), 'session')
  await mkdir(`${folder}.new`)
  await writeFile(join(`${folder}.new`, 'log'), 'half\n')
  const files = await createLiveFiles(folder)
  t.after(() => files.close())
  assert.deepEqual(await linesOf(files), [])
  assert.deepEqual(await readdir(join(folder, '..')), ['session'])
})

test('a torn line and sound that no line tells of are dropped, and writing goes on behind', async (t) => {
  const { folder, files } = await makeSession(t)
  await Promise.all(writeCalls(files, { count: 3 }))
  await files.close()
  await appendFile(join(folder, 'log'), lineOf(3, 400).slice(0, 9))
  await appendFile(files.audioPath, 'sound of a line that never came')
  const second = await reopen(t, folder)
  await assertWhole(second, 3)
  await Promise.all(writeCalls(second, { from: 3, count: 2 }))
  await second.close()
  await assertWhole(await reopen(t, folder), 5)
})

test('after a loss of power the log ends where it tells of sound that is gone, or holds zeros', async (t) => {
  const { folder, files } = await makeSession(t)
  await Promise.all(writeCalls(files, { count: 5 }))
  await files.close()
  await truncate(files.audioPath, 44 + 399)
  await assertWhole(await reopen(t, folder), 3)
  await appendFile(join(folder, 'log'), `\0\0\0\0${lineOf(3, 300)}\n${lineOf(4, 300)}\n`)
  await assertWhole(await reopen(t, folder), 3)
  await truncate(files.audioPath, 0)
  await assertWhole(await reopen(t, folder), 0)
})

test('whenever the process is killed, what was written is there, and nothing half', async (t) => {
  const folder = join(await makeFolder(t), 'live', randomUUID())
  const fixture = fileURLToPath(new URL('./live-files.fixture.ts', import.meta.url))
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
    const files = await openLiveFiles(folder, { audioAfter })
    const count = await assertWhole(files)
    await files.close()
    assert.ok(written >= killAfter && count >= sent && sent > before, `${count} lines of ${sent}`)
    before = count
  }
})

test('a full disk fails the writes that wait, keeps what was there, and later ones work', async (t) => {
  const disk = join(await makeFolder(t), 'disk')
  mkdirSync(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' })
  } catch {
    return t.skip('needs the right to mount a small disk')
  }
  try {
    const folder = join(disk, 'session')
    const files = await createLiveFiles(folder)
    await Promise.all(writeCalls(files, { count: 10 }))
    await writeFile(join(disk, 'ballast'), Buffer.alloc(900_000))
    const outcomes = await Promise.allSettled([
      files.write(audioAt(1000, 301_000), [lineOf(10, 301_000)]),
      files.write(audioAt(301_000, 301_100), [lineOf(11, 301_100)]),
      files.sync(),
    ])
    for (const outcome of outcomes) {
      assert.equal(outcome.status === 'rejected' && outcome.reason.code, 'storage_full')
    }
    await assertWhole(files, 10)
    await truncate(join(disk, 'ballast'), 0)
    await Promise.all([...writeCalls(files, { from: 10, count: 10 }), files.sync()])
    await files.close()
    const again = await openLiveFiles(folder, { audioAfter })
    await assertWhole(again, 20)
    await again.close()
  } finally {
    execFileSync('umount', [disk])
  }
})

test('nothing is written once it is closed, and what was given before is', async (t) => {
  const { folder, files } = await makeSession(t)
  const calls = Promise.all([...writeCalls(files, { count: 50 }), files.sync()])
  await files.close()
  await calls
  await assert.rejects(files.write(undefined, ['x']), /is closed/)
  await assert.rejects(files.sync(), /is closed/)
  await assertWhole(await reopen(t, folder), 50)
})

async function contentOf(objects: Objects, id: string): Promise<Buffer> {
  return buffer((await objects.read(id)).body)
}

test('the sound becomes a recording, the same one each time, which outlives its session', async (t) => {
  const { folder, files } = await makeSession(t)
  const objects = await openDiskObjects(join(await makeFolder(t), 'objects'))
  const id = randomUUID()
  const header = Buffer.alloc(44, 'h')
  void files.write(audioAt(0, 333), [lineOf(0, 333)])
  const expected = Buffer.concat([header, audioAt(0, 333), Buffer.alloc(1)])
  assert.deepEqual(await keepRecording(files, objects, { id, header }), { size: 378 })
  assert.ok((await contentOf(objects, id)).equals(expected))

  // The server was killed before it recorded that: the next one does it again.
  await files.close()
  const second = await reopen(t, folder)
  await assertWhole(second, 1)
  assert.deepEqual(await keepRecording(second, objects, { id, header }), { size: 378 })
  assert.ok((await contentOf(objects, id)).equals(expected))

  await removeLiveFiles(folder)
  await removeLiveFiles(folder)
  assert.ok((await contentOf(objects, id)).equals(expected))
})

test('a recording of an even length has no pad byte, and one without sound is a header', async (t) => {
  const { files } = await makeSession(t)
  const objects = await openDiskObjects(join(await makeFolder(t), 'objects'))
  const header = Buffer.alloc(44, 'h')
  for (const [size, audio] of [
    [44, 0],
    [46, 2],
  ] as const) {
    if (audio > 0) await files.write(audioAt(0, audio), [lineOf(0, audio)])
    const id = randomUUID()
    assert.deepEqual(await keepRecording(files, objects, { id, header }), { size })
    assert.ok((await contentOf(objects, id)).equals(Buffer.concat([header, audioAt(0, audio)])))
  }
  const wrong = { id: randomUUID(), header: Buffer.alloc(46) }
  await assert.rejects(keepRecording(files, objects, wrong), RangeError)
})

test('the folders of sessions that are not open are removed, those of others are not', async (t) => {
  const parent = join(await makeFolder(t), 'live')
  await removeStaleLiveFiles(parent, new Map())
  const ids = [randomUUID(), randomUUID()]
  for (const id of ids) await (await openOrCreate(join(parent, id))).close()
  await mkdir(join(parent, `${ids[0]}.new`))
  await removeStaleLiveFiles(parent, new Map([[ids[0]!, 'open']]))
  assert.deepEqual(await readdir(parent), [ids[0]])
  await (await reopen(t, join(parent, ids[0]!))).close()
})

test('the folder of a session whose job is unknown waits beside, and comes back when it is known again', async (t) => {
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
  await removeStaleLiveFiles(parent, new Map([[ended, 'ended']]), orphans)
  assert.deepEqual(await readdir(parent), [])
  assert.deepEqual(await readdir(join(folder, 'orphans')), [`live-${unknown}`])
  for (const id of [unknown, ended]) await orphans.takeSessionBack(join(parent, id))
  assert.deepEqual(await readdir(parent), [unknown])
})
