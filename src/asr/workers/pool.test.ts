import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { WorkerPool } from './pool.ts'
import type { WorkerTask } from './worker-protocol.ts'

/** A task for the fake worker of misbehaving-worker.ts: the path selects its behavior. */
function task(path: string): WorkerTask {
  return { kind: 'detect', path, samples: 0, start: 0, end: 0 }
}

type Started = { workers?: number; initialWorkers?: number; args?: string[]; idleSeconds?: number }

function startPool(t: TestContext, { workers = 1, args = [], ...options }: Started = {}) {
  const entry = new URL('../../../test/support/asr/workers/misbehaving-worker.ts', import.meta.url)
  const metrics = createMetrics()
  const onLost = () => metrics.workerRestarts.inc({ role: 'batch' })
  const pool = new WorkerPool({
    entry,
    args,
    workers,
    ...options,
    log: createLog('silent'),
    onLost,
  })
  pool.start()
  t.after(() => pool.close())
  const run = (path: string, options = {}) => {
    return pool.run(task(path), { signal: new AbortController().signal, timeout: 30, ...options })
  }
  const restarts = async () => {
    const { values } = await metrics.workerRestarts.get()
    return values.find(({ labels }) => labels.role === 'batch')?.value
  }
  return { pool, run, restarts }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const engineFailed = (error: unknown) => error instanceof AppError && error.code === 'engine_failed'

test('a task runs in a worker process', async (t) => {
  const { run } = startPool(t)
  assert.notEqual(Number(await run('pid')), process.pid)
})

test('workers run with memory settings', { skip: !existsSync('/proc') }, async (t) => {
  const { run } = startPool(t)
  const process = `/proc/${await run('pid')}`
  assert.match(readFileSync(`${process}/cmdline`, 'utf8'), /--max-semi-space-size=1\0/)
  const environment = readFileSync(`${process}/environ`, 'utf8').split('\0')
  const settings = environment.filter((line) => line.startsWith('MALLOC_')).sort()
  assert.deepEqual(settings, [
    'MALLOC_ARENA_MAX=1',
    'MALLOC_MMAP_THRESHOLD_=4194304',
    'MALLOC_TRIM_THRESHOLD_=33554432',
  ])
})

test('a worker that is not started at first starts when tasks wait', async (t) => {
  const { run } = startPool(t, { workers: 2, initialWorkers: 1 })
  const first = await run('pid')
  assert.equal(await run('pid'), first)
  const stop = new AbortController()
  const waiting = run('wait', { signal: stop.signal })
  assert.notEqual(await run('pid'), first)
  stop.abort(new Error('seen'))
  await assert.rejects(waiting, /seen/)
})

test('an idle worker ends, and starts again when tasks wait', async (t) => {
  const { run, restarts } = startPool(t, { workers: 2, idleSeconds: 0 })
  const stop = new AbortController()
  const waiting = run('wait', { signal: stop.signal })
  const other = Number(await run('pid'))
  while (isRunning(other)) await setImmediate()
  assert.ok(isRunning(Number(await run('pid'))))
  stop.abort(new Error('seen'))
  await assert.rejects(waiting, /seen/)
  assert.equal(await restarts(), 0)
})

test('the last worker keeps running when idle', async (t) => {
  const { run } = startPool(t, { idleSeconds: 0 })
  const first = await run('pid')
  const begun = performance.now()
  // Its timer is over by then.
  while (performance.now() - begun < 10) await setImmediate()
  assert.equal(await run('pid'), first)
})

test('reload() replaces workers one at a time, each when it is idle', async (t) => {
  const { pool, run, restarts } = startPool(t, { workers: 2 })
  const stop = new AbortController()
  const waiting = run('wait', { signal: stop.signal })
  const idle = Number(await run('pid'))
  pool.reload()
  while (isRunning(idle)) await setImmediate()
  const busy = await run('pid')
  assert.notEqual(busy, idle)
  stop.abort(new Error('seen'))
  await assert.rejects(waiting, /seen/)
  // Both run again, and neither is replaced once more.
  const pids = new Set<unknown>()
  while (pids.size < 2) for (const pid of await Promise.all([run('pid'), run('pid')])) pids.add(pid)
  assert.ok(pids.has(busy))
  assert.equal(await restarts(), 0)
})

test('a crash fails its own task, not the waiting ones', async (t) => {
  const { run } = startPool(t)
  const [crashed, after] = await Promise.allSettled([run('crash'), run('pid')])
  assert.equal(crashed.status, 'rejected')
  assert.ok(engineFailed(crashed.reason))
  assert.equal(after.status, 'fulfilled')
})

test('a hanging worker is killed and replaced', async (t) => {
  const { run } = startPool(t)
  await run('pid')
  await assert.rejects(run('hang', { timeout: 0.2 }), engineFailed)
  await run('pid')
})

test('a task that throws keeps its error code and its worker', async (t) => {
  const { run } = startPool(t)
  const before = await run('pid')
  await assert.rejects(run('fail'), { code: 'storage_unreadable' })
  assert.equal(await run('pid'), before)
})

test('a canceled task is rejected at once, and its worker continues with the next', async (t) => {
  const { run } = startPool(t)
  const before = await run('pid')
  const controller = new AbortController()
  const canceled = run('wait', { signal: controller.signal })
  controller.abort(new Error('no longer wanted'))
  await assert.rejects(canceled, { message: 'no longer wanted' })
  assert.equal(await run('pid'), before)
})

test('urgent tasks overtake waiting ones', async (t) => {
  const { run } = startPool(t)
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  await Promise.all([
    run('pid').then(note('first')),
    run('pid').then(note('second')),
    run('pid', { priority: -1 }).then(note('urgent')),
  ])
  assert.equal(order[0], 'urgent')
})

test('an urgent task preempts a preemptible one, a limited number of times', async (t) => {
  const { run } = startPool(t)
  const pid = Number(await run('pid'))
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const kept = run('until-signal', { priority: 2, isPreemptible: true })
  const yielding = kept.finally(note('yielding'))
  const behind = run('pid', { priority: 2 }).then(note('behind'))
  for (const name of ['first', 'second', 'third']) await run('pid').then(note(name))
  const fourth = run('pid').then(note('fourth'))
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  process.kill(pid, 'SIGUSR2')
  assert.deepEqual(await yielding, { pid, run: 4 })
  await Promise.all([fourth, behind])
  assert.deepEqual(order, ['first', 'second', 'third', 'yielding', 'fourth', 'behind'])
})

test('a task that is not preemptible, or is as urgent, keeps its worker', async (t) => {
  const { run } = startPool(t)
  const pid = Number(await run('pid'))
  for (const options of [{ priority: 2 }, { priority: 0, isPreemptible: true }]) {
    const kept = run('until-signal', options)
    const urgent = run('pid')
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    process.kill(pid, 'SIGUSR2')
    assert.ok(await kept)
    await urgent
  }
})

test('preemptible tasks leave a worker free', async (t) => {
  const { run } = startPool(t, { workers: 2 })
  const order: string[] = []
  const note = (name: string) => () => order.push(name)
  const stop = new AbortController()
  const yielding = run('wait', { isPreemptible: true, signal: stop.signal })
  const second = run('pid', { isPreemptible: true }).then(note('second'))
  await run('pid').then(note('urgent'))
  stop.abort(new Error('seen enough'))
  await assert.rejects(yielding, { message: 'seen enough' })
  await second
  assert.deepEqual(order, ['urgent', 'second'])
})

test('a preempted task that is canceled does not run again', async (t) => {
  const { run } = startPool(t)
  await run('pid')
  const stop = new AbortController()
  const yielding = run('until-signal', { priority: 2, isPreemptible: true, signal: stop.signal })
  const urgent = run('pid')
  stop.abort(new Error('no longer wanted'))
  await assert.rejects(yielding, { message: 'no longer wanted' })
  await urgent
  await run('pid')
})

test('workers run concurrently', async (t) => {
  const { run } = startPool(t, { workers: 2 })
  const controller = new AbortController()
  const held = run('wait', { signal: controller.signal })
  await run('pid')
  controller.abort(new Error('seen enough'))
  await assert.rejects(held, { message: 'seen enough' })
})

test('a worker whose models cannot be loaded reports the reason', async (t) => {
  const { run } = startPool(t, { args: ['broken'] })
  await assert.rejects(run('pid'), { code: 'engine_unavailable', message: /no model here/ })
})

test('only crashed workers are counted as restarts, not closed ones', async (t) => {
  const { pool, run, restarts } = startPool(t)
  await run('pid')
  assert.equal(await restarts(), 0)
  await assert.rejects(run('crash'), engineFailed)
  await run('pid')
  assert.equal(await restarts(), 1)
  await pool.close()
  assert.equal(await restarts(), 1)
})

test('close() rejects running and waiting tasks', async (t) => {
  const { pool, run } = startPool(t)
  await run('pid')
  const both = Promise.allSettled([run('hang'), run('pid')])
  await pool.close()
  for (const outcome of await both) assert.equal(outcome.status, 'rejected')
})

test('setNiceness applies to current workers and their replacements', async (t) => {
  const { pool, run } = startPool(t)
  const first = Number(await run('pid'))
  const usual = getPriority(first)
  pool.setNiceness(10)
  assert.equal(getPriority(first), Math.max(usual, 10))
  await assert.rejects(run('crash'), engineFailed)
  assert.equal(getPriority(Number(await run('pid'))), Math.max(usual, 10))
})
