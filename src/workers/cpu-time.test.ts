import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { cpuSecondsOf, isRunnable, watchStarvation } from './cpu-time.ts'

const hasProc = process.platform === 'linux'
const worker = new URL('../../test/support/workers/misbehaving-task-worker.ts', import.meta.url)

/**
 * Asks after each period of ten seconds; the numbers are the processor time at its ends. The
 * process waits for a core then, unless `isRunnable` says otherwise.
 */
async function ask(
  [begun, ...ends]: (number | undefined)[],
  { isRunnable = true }: { isRunnable?: boolean } = {},
): Promise<boolean[]> {
  const times = [begun, ...ends]
  const usage = { read: async () => times.shift(), isRunnable: () => isRunnable }
  const isStarved = await watchStarvation(usage, 10)
  return Array.fromAsync(ends, () => isStarved())
}

test('a starved process is granted the same processor time', async () => {
  assert.deepEqual(await ask([100, 102, 104, 109.9, 110]), [true, true, true, false])
})

test('an idle process is not starved', async () => {
  assert.deepEqual(await ask([100, 100]), [false])
  assert.deepEqual(await ask([100, 102, 102.009]), [true, false])
})

test('a process of unknown processor time has one period', async () => {
  assert.deepEqual(await ask([undefined, undefined]), [false])
  assert.deepEqual(await ask([100, undefined]), [false])
})

test('a process that only wakes for timers is not starved', async () => {
  assert.deepEqual(await ask([100, 100.1], { isRunnable: false }), [false])
  assert.deepEqual(await ask([100, 100.1]), [true])
  assert.deepEqual(await ask([100, 102, 104], { isRunnable: false }), [true, true])
})

test('a process that never progresses is limited', async () => {
  const ends = Array.from({ length: 40 }, (_, n) => 0.1 * (n + 1))
  assert.equal((await ask([0, ...ends])).indexOf(false), 39)
})

test('a process whose time cannot be read in a period has no extension', async () => {
  const times = [0, 0.02]
  const read = async () => times.shift() ?? (await new Promise<undefined>(() => {}))
  const isStarved = await watchStarvation({ read, isRunnable: () => true }, 0.05)
  const alive = setInterval(() => {}, 1000)
  try {
    assert.deepEqual([await isStarved(), await isStarved()], [true, false])
  } finally {
    clearInterval(alive)
  }
})

test('the processor time of a process includes its children', {
  skip: !hasProc && 'needs /proc',
}, async (t) => {
  const child = fork(worker, { serialization: 'advanced' })
  t.after(() => child.kill('SIGKILL'))
  const used = () => cpuSecondsOf(process.pid)! - cpuSecondsOf(child.pid!)!
  child.send('ready')
  await once(child, 'message')
  const ofProcess = process.cpuUsage()
  const before = { all: cpuSecondsOf(process.pid)!, own: used() }
  child.send('hang')
  while (cpuSecondsOf(process.pid)! - before.all < 0.3 || cpuSecondsOf(child.pid!)! < 0.2);
  // So that it works no more between two readings.
  child.kill('SIGSTOP')
  const { user, system } = process.cpuUsage(ofProcess)
  assert.ok(Math.abs(used() - before.own - (user + system) / 1e6) < 0.1)
})

test('isRunnable is true while a process works, not while it waits', {
  skip: !hasProc && 'needs /proc',
}, async (t) => {
  const child = fork(worker, { serialization: 'advanced' })
  t.after(() => child.kill('SIGKILL'))
  child.send('ready')
  await once(child, 'message')
  while (isRunnable(child.pid!)) await setImmediate()
  child.send('hang')
  while (!isRunnable(child.pid!)) await setImmediate()
  // For a moment it may wait for a thread of its own, which compiles or collects garbage.
  const seen = Array.from({ length: 20 }, () => isRunnable(child.pid!))
  assert.ok(seen.filter(Boolean).length > 10)
})

test('the processor time of an ended process is undefined', () => {
  assert.equal(isRunnable(2 ** 30), false)
  assert.equal(cpuSecondsOf(2 ** 30), undefined)
})
