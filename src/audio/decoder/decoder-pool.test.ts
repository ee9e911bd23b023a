import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeMedia } from '../decode-media.ts'
import { probeMedia } from '../probe-media.ts'
import { decodeShortFile } from './decoder-pool.ts'

const { signal } = new AbortController()
const unixOnly = { skip: process.platform === 'win32', timeout: 60_000 }
const maxSeconds = 60
const fixture = (name: string) =>
  fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url))

function allProcesses() {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return args ? [{ pid: Number(pid), parent: Number(parent), args }] : []
  })
}

/** Decoders that an earlier test file in this process has left idle; they end by themselves. */
const earlier = new Set<number>()
before(() => {
  for (const pid of decoderIds()) earlier.add(pid)
})

/** The ids of the decoders that this file has started. */
function decoderIds(): number[] {
  return allProcesses()
    .filter(({ parent, args }) => parent === process.pid && args.includes('decoder-process'))
    .map(({ pid }) => pid)
    .filter((pid) => !earlier.has(pid))
}

/** Stops the decoders and what they have started, until they are killed. */
function suspendDecoders(): void {
  const ids = decoderIds()
  const processes = allProcesses()
  for (const id of ids) {
    process.kill(id, 'SIGSTOP')
    ids.push(...processes.filter(({ parent }) => parent === id).map(({ pid }) => pid))
  }
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

const read = (name: string, account: string) => {
  return decodeShortFile(fixture(name), { nameHint: name, maxSeconds, account, signal })
}

test(
  'short files of one account share a process, those of two accounts do not',
  unixOnly,
  async () => {
    assert.ok(await read('same-channels.mp3', 'one'))
    const first = decoderIds()
    assert.equal(first.length, 1)
    assert.ok(await read('irregular/recorder.webm', 'one'))
    assert.deepEqual(decoderIds(), first)
    assert.ok(await read('irregular/recorder.webm', 'other'))
    assert.equal(decoderIds().length, 2)
  },
)

test('a process that fails is replaced, and its file read by another one', unixOnly, async () => {
  assert.ok(await read('irregular/recorder.webm', 'one'))
  suspendDecoders()
  const reads = [1, 2].map(() => read('irregular/recorder.webm', 'one'))
  // One of them finds the process busy.
  assert.equal(await Promise.race(reads), undefined)
  const busy = decoderIds()
  assert.notDeepEqual(busy, [])
  for (const pid of busy) process.kill(pid, 'SIGKILL')
  assert.deepEqual(await Promise.all(reads), [undefined, undefined])
  assert.ok(await read('irregular/recorder.webm', 'one'))
  assert.ok(decoderIds().every((pid) => !busy.includes(pid)))
})

test('a short upload decodes to the same samples as in a separate decoder', unixOnly, async (t) => {
  for (const name of ['same-channels.mp3', 'irregular/recorder.webm']) {
    const options = { nameHint: name, maxSeconds, signal }
    const file = fixture(name)
    const [scratch, shared] = [temporaryFolder(t), temporaryFolder(t)]
    const expected = await decodeMedia(file, scratch, options)
    const info = await probeMedia(file, { ...options, account: 'one' })
    assert.deepEqual(info, await probeMedia(file, options))
    const startedBefore = decoderIds()
    const media = await decodeMedia(file, shared, { ...options, account: 'one' })
    assert.deepEqual(decoderIds(), startedBefore)
    assert.equal(media.duration, expected.duration)
    for (const [i, { path, sameAs }] of media.channels.entries()) {
      assert.equal(sameAs, expected.channels[i]!.sameAs)
      assert.deepEqual(readFileSync(path), readFileSync(expected.channels[i]!.path))
    }
  }
})

test('a short recording that is not stored is decoded by a shared process', unixOnly, async (t) => {
  const name = 'same-channels.mp3'
  const options = { nameHint: name, maxSeconds, account: 'one', signal }
  const [scratch, shared] = [temporaryFolder(t), temporaryFolder(t)]
  const expected = await decodeMedia(fixture(name), scratch, { ...options, account: undefined })
  assert.ok(await read(name, 'one'))
  const startedBefore = decoderIds()
  const media = await decodeMedia(fixture(name), shared, {
    ...options,
    seconds: expected.duration,
  })
  assert.deepEqual(decoderIds(), startedBefore)
  assert.deepEqual(readFileSync(media.channels[0]!.path), readFileSync(expected.channels[0]!.path))
})

test('an unreadable file has the same error as in a separate decoder', unixOnly, async () => {
  const file = fileURLToPath(import.meta.url)
  const options = { nameHint: 'speech.wav', maxSeconds, account: 'one', signal }
  await assert.rejects(probeMedia(file, options), { code: 'media_unsupported' })
})
