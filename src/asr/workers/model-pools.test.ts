import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { LocalModel } from '../../models/install/installed-models.ts'
import { createLog } from '../../observability/log.ts'
import { ModelPools, type ModelPoolsOptions, type ModelUse } from './model-pools.ts'
import { WorkerPool } from './pool.ts'

const entry = new URL('../../../test/support/asr/workers/misbehaving-worker.ts', import.meta.url)

/** Pools whose tasks return the process that ran them. */
function open(t: TestContext, options: Partial<ModelPoolsOptions> = {}) {
  const pools = new ModelPools({
    workers: 1,
    memory: 100,
    idleSeconds: -1,
    start(_model, _use, workers) {
      const pool = new WorkerPool({ entry, args: [], workers, log: createLog('silent') })
      pool.start()
      return pool
    },
    ...options,
  })
  t.after(() => pools.close())
  return pools
}

function modelOf(id: string, memoryBytes: number): LocalModel {
  const kind = { kind: 'recognition', engine: 'whisper', languages: ['en'] } as const
  return { id, ...kind, revision: '1', memoryBytes, folder: '' }
}

/** Runs a task; `behavior` is that of the fixture. */
async function run(
  pools: ModelPools,
  model: LocalModel,
  { behavior = 'answer', use = 'batch' as ModelUse, signal = new AbortController().signal } = {},
): Promise<number> {
  const task = { kind: 'detect' as const, path: behavior, samples: 0, start: 0, end: 0 }
  const options = { signal, timeout: 20 }
  return (await pools.run(model, use, { task, options })) as unknown as number
}

function loadedOf({ loaded }: ModelPools): string[] {
  return loaded.map(({ id, use }) => `${use} ${id}`)
}

test('a model stays loaded between tasks, and its process ends after the idle time', async (t) => {
  const pools = open(t, { idleSeconds: 1 })
  const model = modelOf('a', 10)
  const first = await run(pools, model)
  assert.equal(await run(pools, model), first)
  while (pools.loaded.length > 0) await delay(50)
  assert.throws(() => process.kill(first, 0))
  assert.notEqual(await run(pools, model), first)
})

test('without idle time a model is unloaded after its last task', async (t) => {
  const pools = open(t, { idleSeconds: 0 })
  const model = modelOf('a', 10)
  const both = await Promise.all([run(pools, model), run(pools, model)])
  assert.equal(both[0], both[1])
  while (pools.loaded.length > 0) await delay(20)
})

test('the least recently used model is unloaded to make space', async (t) => {
  const pools = open(t)
  const [a, b, c] = [modelOf('a', 40), modelOf('b', 40), modelOf('c', 40)]
  await run(pools, a)
  await run(pools, b)
  await run(pools, a)
  await run(pools, c)
  assert.deepEqual(loadedOf(pools), ['batch a', 'batch c'])
})

test('a task waits while models in use fill the memory, unless it is canceled', async (t) => {
  const pools = open(t)
  const stop = new AbortController()
  const busy = run(pools, modelOf('a', 90), { behavior: 'wait', signal: stop.signal })
  const canceled = new AbortController()
  const gone = run(pools, modelOf('b', 90), { signal: canceled.signal })
  const waiting = run(pools, modelOf('b', 90))
  await delay(200)
  assert.deepEqual(loadedOf(pools), ['batch a'])
  canceled.abort()
  await assert.rejects(gone, { name: 'AbortError' })
  stop.abort()
  await assert.rejects(busy, { name: 'AbortError' })
  assert.ok((await waiting) > 0)
  assert.deepEqual(loadedOf(pools), ['batch b'])
})

test('live work runs in a process of its own', async (t) => {
  const pools = open(t)
  const model = modelOf('a', 40)
  const processes = [await run(pools, model), await run(pools, model, { use: 'live' })]
  assert.notEqual(processes[0], processes[1])
})

test('a model gets as many processes as fit into half of the memory', async (t) => {
  const started: number[] = []
  const start: ModelPoolsOptions['start'] = (_model, _use, workers) => {
    started.push(workers)
    return new WorkerPool({ entry, args: [], workers, initialWorkers: 0, log: createLog('silent') })
  }
  const pools = open(t, { workers: 4, start })
  const { signal, abort } = stopper()
  const tasks = [modelOf('a', 20), modelOf('b', 60)].map((model) => run(pools, model, { signal }))
  abort()
  await Promise.allSettled(tasks)
  assert.deepEqual(started, [2, 1])
})

function stopper() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
