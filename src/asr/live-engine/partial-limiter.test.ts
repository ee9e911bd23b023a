import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLog } from '../../observability/log.ts'
import { createLiveEngine, type LiveEngineOptions } from './create-live-engine.ts'
import { createPartialLimiter } from './partial-limiter.ts'

const { signal } = new AbortController()
type Pool = ReturnType<LiveEngineOptions['start']>
const asPool = (pool: object) => pool as unknown as Pool
const stub = {
  processesOf: (_: string, usual: Pool) => usual,
  partialInterval: 1,
  onFirstAudio() {},
  log: createLog('silent'),
}

/** Opens a limiter for two cores with two finals that run, and partials that wait. */
function wait(signals: readonly AbortSignal[]) {
  const limiter = createPartialLimiter(2)
  const finals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const running = finals.map(({ promise }) => limiter.during(promise))
  const partials = signals.map((signal) => {
    const end = Promise.withResolvers<void>()
    const start = mock.fn(() => end.promise)
    return { end, start, done: limiter.whenFree(start, signal) }
  })
  /** How many partials have started. */
  const started = async () => {
    await turn()
    return partials.filter(({ start }) => start.mock.callCount() > 0).length
  }
  return { finals, running, partials, started }
}

test('partials wait while finals use all cores, then take one freed core each', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { finals, running, partials, started } = wait([signal, signal])
  assert.equal(await started(), 0)
  // A final that fails leaves its core free, too.
  finals[0]!.reject(new Error('lost'))
  await assert.rejects(running[0]!, /lost/)
  assert.equal(await started(), 1)
  partials[0]!.end.resolve()
  assert.equal(await started(), 2)
  partials[1]!.end.resolve()
  await partials[1]!.done
})

test('a partial stops waiting after a second, or when its utterance ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ended = new AbortController()
  const { started } = wait([signal, ended.signal])
  ended.abort()
  assert.equal(await started(), 1)
  t.mock.timers.tick(999)
  assert.equal(await started(), 1)
  t.mock.timers.tick(1)
  assert.equal(await started(), 2)
})

test('first partials overtake finals, further ones and low-priority work do not', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const tasks: { kind: string; end: () => void }[] = []
  const pool = {
    run: ({ kind }: { kind: string }) => {
      if (kind === 'measure') return Promise.resolve({})
      const task = Promise.withResolvers<unknown>()
      tasks.push({ kind, end: () => task.resolve({}) })
      return task.promise
    },
    close: async () => {},
  }
  const engine = createLiveEngine({ ...stub, workers: 1, start: () => asPool(pool) })
  const utterance = { path: 'a', segment: { start: 0, end: 16_000 } }
  const settings = { model: 'm', language: 'en', languages: [], vocabulary: [], signal }
  const kinds = async () => {
    await turn()
    return tasks.map(({ kind }) => kind).join(' ')
  }
  const behind = engine.recognizeFinal(utterance, { ...settings, isLowPriority: true })
  const further = engine.recognizePartial(utterance, settings)
  assert.equal(await kinds(), 'final partial')
  tasks[1]!.end()
  await further
  const final = engine.recognizeFinal(utterance, settings)
  const first = engine.recognizePartial(utterance, { ...settings, isFirst: true })
  const late = engine.recognizePartial(utterance, settings)
  assert.equal(await kinds(), 'final partial final partial')
  tasks[2]!.end()
  await final
  assert.equal(await kinds(), 'final partial final partial partial')
  for (const { end } of tasks) end()
  await Promise.all([behind, first, late])
  await engine.close()
})

test('the partial processes are half as many as the workers, plus one', async () => {
  for (const [workers, partials] of [
    [1, 1],
    [2, 2],
    [4, 3],
  ] as const) {
    const start = mock.fn((_role: string, _count: number) => {
      return asPool({ run: async () => ({}), close: async () => {} })
    })
    const engine = createLiveEngine({ ...stub, workers, start })
    const started = start.mock.calls.map((call) => call.arguments.join(' '))
    assert.deepEqual(started, [`live ${workers}`, `partials ${partials}`, 'vad 1'])
    await engine.close()
  }
})

test('the number of sessions is measured, unless it is configured', async () => {
  const [configured, measured] = [false, true].map((measuresCapacity) => {
    const run = mock.fn(async (_task: { kind: string }) => ({
      finals: 0.1,
      partial: 0.1,
      vad: 0.1,
    }))
    const start = () => asPool({ run, close: async () => {} })
    const engine = createLiveEngine({ ...stub, workers: 1, start, measuresCapacity })
    return { engine, kinds: () => run.mock.calls.map(({ arguments: [{ kind }] }) => kind) }
  })
  while (measured!.engine.capacity === undefined) await turn()
  assert.deepEqual(measured!.kinds(), ['measure', 'measure'])
  assert.deepEqual(configured!.kinds(), [])
  assert.equal(configured!.engine.capacity, undefined)
  await Promise.all([configured!.engine.close(), measured!.engine.close()])
})
