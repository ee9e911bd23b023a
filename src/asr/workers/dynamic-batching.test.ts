import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import type { Batch, RecognizedSegment } from '../speech-engine.ts'
import { type BatchOptions, createBatchingRunner } from './dynamic-batching.ts'
import type { PoolTaskOptions, TaskRunner } from './pool.ts'
import type { WorkerTask } from './worker-protocol.ts'

const { signal } = new AbortController()
const options: PoolTaskOptions = { signal, timeout: 10 }
const joining: BatchOptions = { processes: 1, maxSegments: 16 }

function batchOf(path: string, { segments = 1, language = 'de' } = {}): Batch {
  const settings = { model: 'm', language, languages: [language], vocabulary: [] }
  const list = Array.from({ length: segments }, (_, i) => ({ start: i, end: i + 1 }))
  return { channel: 0, path, segments: list, ...settings }
}

function respondTo({ path, segments, language = '', model }: Batch): RecognizedSegment[] {
  return segments.map((segment) => {
    return { segment, words: [], model: `${model} ${path}`, language, uncovered: 0, warnings: [] }
  })
}

/** A pool that records which tasks ran together; `fails` are paths that it cannot recognize. */
function poolOf(
  fails: readonly string[] = [],
  code: 'engine_failed' | 'engine_unavailable' = 'engine_failed',
) {
  const ran: string[] = []
  const how: PoolTaskOptions[] = []
  const run = async (task: WorkerTask, taskOptions: PoolTaskOptions) => {
    how.push(taskOptions)
    await turn()
    if (task.kind !== 'recognize' && task.kind !== 'recognize-all') return ran.push(task.kind)
    const batches = task.kind === 'recognize' ? [task] : task.batches
    ran.push(batches.map(({ path }) => path).join('+'))
    if (batches.some(({ path }) => fails.includes(path))) throw new AppError(code)
    return task.kind === 'recognize' ? respondTo(task) : batches.map(respondTo)
  }
  return { ran, how, pool: { run } as unknown as TaskRunner }
}

test('tasks of equal settings run together, and waiting ones in the next batch', async () => {
  const { ran, how, pool } = poolOf()
  const joined = createBatchingRunner(pool, joining)
  const run = (batch: Batch) => joined.run({ kind: 'recognize', ...batch }, options)
  const first = ['a', 'b'].map((path) => run(batchOf(path)))
  const other = run(batchOf('c', { language: 'fr' }))
  await turn()
  const later = ['d', 'e'].map((path) => run(batchOf(path)))
  const check = joined.run({ kind: 'check' }, options)
  const models = (await Promise.all([...first, other, ...later])).map(([one]) => one!.model)
  assert.deepEqual(models, ['m a', 'm b', 'm c', 'm d', 'm e'])
  await check
  assert.deepEqual(ran.toSorted(), ['a+b', 'c', 'check', 'd+e'])
  assert.equal(how[0]!.timeout, 20)
})

test('as many batches run at once as there are processes', async () => {
  const { ran, how, pool } = poolOf()
  const joined = createBatchingRunner(pool, { processes: 2, maxSegments: 2, priority: 10 })
  const run = (path: string) => joined.run({ kind: 'recognize', ...batchOf(path) }, options)
  const first = ['a', 'b'].map(run)
  await Promise.resolve()
  await Promise.resolve()
  const second = ['c', 'd', 'e'].map(run)
  await Promise.resolve()
  await Promise.resolve()
  assert.equal(how.length, 2)
  await Promise.all([...first, ...second])
  assert.deepEqual(ran.toSorted(), ['a+b', 'c+d', 'e'])
  assert.ok(how.every(({ priority }) => priority === 10))
})

test('a batch has at most sixteen segments, and each task gets its own results', async () => {
  const { ran, pool } = poolOf()
  const joined = createBatchingRunner(pool, joining)
  const sizes = [9, 7, 1, 20]
  const results = await Promise.all(
    sizes.map((segments, i) => {
      return joined.run({ kind: 'recognize', ...batchOf(`${i}`, { segments }) }, options)
    }),
  )
  assert.deepEqual(
    results.map((segments) => segments.length),
    sizes,
  )
  assert.deepEqual(ran, ['0+1', '2', '3'])
})

test('if a batch fails, each of its tasks runs alone', async () => {
  const { ran, pool } = poolOf(['b'])
  const joined = createBatchingRunner(pool, joining)
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((path) => joined.run({ kind: 'recognize', ...batchOf(path) }, options)),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(ran, ['a+b+c', 'a', 'b', 'c'])
  const broken = poolOf(['a'], 'engine_unavailable')
  const closed = createBatchingRunner(broken.pool, joining)
  const both = ['a', 'b'].map((path) =>
    closed.run({ kind: 'recognize', ...batchOf(path) }, options),
  )
  assert.ok((await Promise.allSettled(both)).every(({ status }) => status === 'rejected'))
  assert.deepEqual(broken.ran, ['a+b'])
})

test('canceling a task does not affect others in its batch', async () => {
  const { ran, how, pool } = poolOf()
  const joined = createBatchingRunner(pool, joining)
  const controller = new AbortController()
  const run = (path: string, abort: AbortSignal) => {
    return joined.run({ kind: 'recognize', ...batchOf(path) }, { ...options, signal: abort })
  }
  const canceled = run('a', controller.signal)
  const kept = run('b', signal)
  await Promise.resolve()
  controller.abort()
  await assert.rejects(canceled, { name: 'AbortError' })
  assert.equal((await kept)[0]!.model, 'm b')
  assert.ok(!how[0]!.signal.aborted)
  const waiting = new AbortController()
  const running = run('c', signal)
  await Promise.resolve()
  const dropped = run('d', waiting.signal)
  waiting.abort()
  await assert.rejects(dropped, { name: 'AbortError' })
  await running
  assert.deepEqual(ran, ['a+b', 'c'])
})
