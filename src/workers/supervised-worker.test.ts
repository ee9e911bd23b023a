import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Exit, processStarter, type StartWorker, threadStarter } from './start-worker.ts'
import { SupervisedWorker, type WorkerExit, type WorkerOptions } from './supervised-worker.ts'

const entry = new URL('../../test/support/workers/misbehaving-task-worker.ts', import.meta.url)

/** Both transports, with the message that the worker sends first, if any. */
const transports: Record<string, (first?: string) => StartWorker> = {
  thread: (first) => threadStarter(entry, { maxHeapMb: 64, workerData: first }),
  process: (first) => {
    const args = first ? [first] : []
    const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as ('ignore' | 'pipe' | 'ipc')[]
    return processStarter(() => fork(fileURLToPath(entry), args, { stdio }))
  },
}

const hasProc = process.platform === 'linux'

type Options = Partial<WorkerOptions<string>> & Pick<WorkerOptions<string>, 'start'>

function open(t: TestContext, options: Options) {
  const losses: WorkerExit[] = []
  const worker = new SupervisedWorker<string>({ onLost: (loss) => losses.push(loss), ...options })
  t.after(() => worker.close())
  const run = (task: string, more = {}) => {
    return worker.run(task, { receive: (response: string) => response, ...more })
  }
  const lostBy = async (task: string, more = {}) => {
    const outcome = await run(task, more)
    assert.ok('lost' in outcome)
    return outcome.lost
  }
  return { worker, run, lostBy, losses }
}

/** Options of a worker that loads, and a promise of its being ready. */
function loading() {
  const ready = Promise.withResolvers<void>()
  const isReady = (message: string) => message === 'ready'
  return { ready: ready.promise, loading: { timeout: 30, isReady, onReady: ready.resolve } }
}

for (const [name, start] of Object.entries(transports)) {
  test(`${name}: a task starts the worker, gets its response and leaves it idle`, async (t) => {
    const { worker, run } = open(t, { start: start() })
    assert.equal(worker.state, 'ended')
    const first = run('one')
    assert.equal(worker.state, 'busy')
    assert.deepEqual(await first, { response: 'one' })
    assert.equal(worker.state, 'idle')
    assert.deepEqual(await run('two'), { response: 'two' })
  })

  test(`${name}: a crash fails its task, and the next one gets a new worker`, async (t) => {
    const { run, lostBy, losses } = open(t, { start: start() })
    const lost = await lostBy('crash')
    assert.equal(lost.reason, 'crashed')
    assert.equal(lost.cause, 'code 3')
    assert.equal(lost.state, 'busy')
    assert.deepEqual(losses, [lost])
    assert.deepEqual(await run('next'), { response: 'next' })
  })

  test(`${name}: a task that times out is reported, and its worker killed`, async (t) => {
    const hangs: number[] = []
    const { run, lostBy } = open(t, { start: start(), onHang: (seconds) => hangs.push(seconds) })
    await run('start')
    assert.equal((await lostBy('hang', { timeout: 0.1 })).reason, 'hung')
    assert.deepEqual(hangs, [0.1])
    assert.deepEqual(await run('next', { timeout: 30 }), { response: 'next' })
  })

  test(`${name}: canceling without a cancel message kills the worker`, async (t) => {
    const { lostBy } = open(t, { start: start() })
    const controller = new AbortController()
    const lost = lostBy('wait', { signal: controller.signal })
    controller.abort()
    assert.equal((await lost).reason, 'canceled')
  })

  test(`${name}: a canceled task is asked to stop and killed if it does not`, async (t) => {
    const { run, lostBy } = open(t, { start: start() })
    const cancel = { message: 'canceled', timeout: 30 }
    const asked = new AbortController()
    const outcome = run('wait', { signal: asked.signal, cancel })
    asked.abort()
    assert.deepEqual(await outcome, { response: 'canceled' })
    const killed = new AbortController()
    const lost = lostBy('hang', { signal: killed.signal, cancel: { ...cancel, timeout: 0.1 } })
    killed.abort()
    assert.equal((await lost).reason, 'hung')
  })

  test(`${name}: closing ends the task, is not a loss, and waits for the exit`, async (t) => {
    const { worker, lostBy, losses } = open(t, { start: start() })
    const lost = lostBy('hang')
    await worker.close()
    assert.equal((await lost).reason, 'closed')
    assert.deepEqual(losses, [])
    assert.equal(worker.state, 'ended')
  })

  test(`${name}: a loading worker is ready by its message and replaced at once`, async (t) => {
    const { ready, loading: options } = loading()
    const { worker, run, lostBy } = open(t, { start: start('ready'), loading: options })
    worker.start()
    assert.equal(worker.state, 'loading')
    assert.throws(() => run('early'), /that is loading takes no task/)
    await ready
    assert.equal(worker.state, 'idle')
    await lostBy('crash')
    assert.equal(worker.state, 'loading')
  })

  test(`${name}: a worker that is never ready is killed`, async (t) => {
    const lost = Promise.withResolvers<WorkerExit>()
    const options = { ...loading().loading, timeout: 0.1 }
    const { worker } = open(t, { start: start(), loading: options, onLost: lost.resolve })
    worker.start()
    const { reason, state } = await lost.promise
    assert.deepEqual({ reason, state }, { reason: 'hung', state: 'loading' })
  })

  test(`${name}: a closed worker is not replaced after a pause`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const lost = Promise.withResolvers<WorkerExit>()
    const { worker } = open(t, {
      start: start('crash'),
      loading: loading().loading,
      onLost: lost.resolve,
    })
    worker.start()
    await lost.promise
    await worker.close()
    t.mock.timers.tick(60_000)
    assert.equal(worker.state, 'ended')
  })

  for (const first of ['crash', 'no model']) {
    test(`${name}: a worker whose start fails with "${first}" is replaced later`, async (t) => {
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const lost = new EventTarget()
      const { worker } = open(t, {
        start: start(first),
        loading: loading().loading,
        onLost: ({ state }) => lost.dispatchEvent(new CustomEvent('lost', { detail: state })),
      })
      worker.start()
      for (const pause of [1000, 2000, 4000]) {
        const [event] = await once(lost, 'lost')
        assert.equal(event.detail, 'loading')
        t.mock.timers.tick(pause - 1)
        assert.equal(worker.state, 'ended')
        t.mock.timers.tick(1)
        assert.equal(worker.state, 'loading')
      }
    })
  }
}

test('a starved process is given more time', {
  skip: !hasProc && 'needs /proc',
}, async (t) => {
  const { run } = open(t, { start: transports.process!() })
  await run('start')
  assert.deepEqual(await run('starve', { timeout: 2 }), { response: 'starve' })
})

test('a starved thread is given more time', async (t) => {
  const { run } = open(t, { start: transports.thread!() })
  await run('start')
  assert.deepEqual(await run('starve', { timeout: 2 }), { response: 'starve' })
})

test('an idle process is killed after its timeout', async (t) => {
  const { run, lostBy } = open(t, { start: transports.process!() })
  await run('start')
  assert.equal((await lostBy('wait', { timeout: 0.5 })).reason, 'hung')
})

test('an error of a thread is reported and ends its task', async (t) => {
  const errors: string[] = []
  const { lostBy } = open(t, {
    start: transports.thread!(),
    onError: ({ name }) => errors.push(name),
  })
  assert.equal((await lostBy('throw')).reason, 'crashed')
  assert.deepEqual(errors, ['RangeError'])
})

test('the exit of a process includes the end of its stderr', async () => {
  const exit = Promise.withResolvers<Exit>()
  const onExit = exit.resolve
  transports.process!()({ onMessage() {}, onError() {}, onExit }).send('throw')
  const { code, stderr } = await exit.promise
  assert.equal(code, 1)
  assert.match(stderr, /RangeError: broken/)
})

test('closing an idle worker keeps this process alive until it has exited', async () => {
  const keeps: boolean[] = []
  const start: StartWorker = ({ onMessage, onExit }) => ({
    pid: undefined,
    cpu: { read: async () => undefined, isRunnable: () => false },
    send: (message) => onMessage(message as never),
    kill: () => setImmediate(onExit, { code: null, signal: 'SIGKILL', stderr: '' }),
    setBusy: (isBusy) => keeps.push(isBusy),
  })
  const worker = new SupervisedWorker<string>({ start })
  await worker.run('one', { receive: (response) => response })
  const closed = worker.close()
  assert.deepEqual(keeps, [true, false, true])
  await closed
  assert.equal(keeps.at(-1), false)
})

test('a task that ends while processor time is read leaves no timeout', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const read = Promise.withResolvers<number>()
  const kill = t.mock.fn()
  let respond = (_message: string) => {}
  const start: StartWorker = ({ onMessage }) => {
    respond = (message) => onMessage(message as never)
    const cpu = { read: () => read.promise, isRunnable: () => false }
    return { pid: undefined, cpu, send() {}, kill, setBusy() {} }
  }
  const worker = new SupervisedWorker<string>({ start })
  const done = worker.run('one', { timeout: 10, receive: (message) => message })
  t.mock.timers.tick(5000)
  respond('one')
  await done
  read.resolve(0)
  for (let i = 0; i < 10; i++) {
    await turn()
    t.mock.timers.tick(5000)
  }
  assert.equal(kill.mock.callCount(), 0)
})

test('a process that cannot be started counts as crashed', async (t) => {
  const errors: unknown[] = []
  const start = processStarter(() => fork(fileURLToPath(entry), { execPath: '/no/such/program' }))
  const { lostBy } = open(t, { start, onError: (error) => errors.push(error) })
  assert.equal((await lostBy('one')).reason, 'crashed')
  assert.ok(errors.length > 0)
})
