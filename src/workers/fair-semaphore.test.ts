import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairSemaphore } from './fair-semaphore.ts'

const never = new AbortController().signal

/** Work that ends on demand, and a list of what has begun. Its name begins with the account's. */
function setup(total: number, { perAccount = total, maxWaiting = 100 } = {}) {
  const semaphore = createFairSemaphore({ total, perAccount, maxWaiting })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  function run(name: string, options: { signal?: AbortSignal; whenFull?: () => Error } = {}) {
    const end = Promise.withResolvers<void>()
    ends.set(name, end)
    const work = () => {
      begun.push(name)
      return end.promise
    }
    return semaphore(work, { account: name[0]!, signal: never, ...options })
  }
  async function end(name: string): Promise<void> {
    ends.get(name)!.resolve()
    await settle()
  }
  return { run, begun, ends, end }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a limited number of tasks run at once, in order per account', async () => {
  const { run, begun, ends, end } = setup(2)
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run(name))
  await settle()
  assert.deepEqual(begun, ['a1', 'a2'])
  await end('a2')
  assert.deepEqual(begun, ['a1', 'a2', 'a3'])
  for (const end of ends.values()) end.resolve()
  await Promise.all(all)
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'a4'])
})

test('perAccount leaves a slot for others', async () => {
  const { run, begun } = setup(2, { perAccount: 1 })
  for (let i = 0; i < 20; i++) void run(`a${i}`)
  await settle()
  assert.deepEqual(begun, ['a0'])
  void run('b0')
  await settle()
  assert.deepEqual(begun, ['a0', 'b0'])
})

test('a free slot goes to the account with the fewest, in turn among equals', async () => {
  const { run, begun, end } = setup(2)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void run(name)
  await settle()
  for (const name of ['a1', 'a2', 'b1', 'a3', 'c1']) await end(name)
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4'])
})

test('only tasks with whenFull are rejected when many of their account wait', async () => {
  const { run, begun } = setup(1, { maxWaiting: 2 })
  const whenFull = () => new Error('full')
  for (const name of ['a1', 'a2', 'a3']) void run(name, { whenFull })
  await assert.rejects(run('a4', { whenFull }), /full/)
  void run('a5')
  void run('b1', { whenFull })
  await settle()
  assert.deepEqual(begun, ['a1'])
})

test('a failure frees its slot', async () => {
  const { run, begun, ends } = setup(1)
  const [failing, next] = [run('a'), run('b')]
  ends.get('a')!.reject(new Error('no'))
  await assert.rejects(failing, /no/)
  await settle()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')!.resolve()
  await next
})

test('an aborted waiter leaves its slot to others', async () => {
  const { run, begun, end } = setup(1)
  const controller = new AbortController()
  const options = { signal: controller.signal }
  const [first, waiting, last] = [run('a1'), run('a2', options), run('a3')]
  controller.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  await end('a1')
  await first
  assert.deepEqual(begun, ['a1', 'a3'])
  await end('a3')
  await last
})

test('an already aborted task does not start', async () => {
  const { run, begun } = setup(1)
  const signal = AbortSignal.abort(new Error('too late'))
  await assert.rejects(run('a', { signal }), /too late/)
  assert.deepEqual(begun, [])
})
