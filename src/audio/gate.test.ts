import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGate } from './gate.ts'

const never = new AbortController().signal

/** Work that ends when told to, and a list of what has begun. */
function setup(limit: number) {
  const gate = createGate(limit)
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  function run(name: string, signal = never): Promise<void> {
    const end = Promise.withResolvers<void>()
    ends.set(name, end)
    return gate(() => {
      begun.push(name)
      return end.promise
    }, signal)
  }
  return { run, begun, ends }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('so many run at a time, the rest in order', async () => {
  const { run, begun, ends } = setup(2)
  const all = ['a', 'b', 'c', 'd'].map((name) => run(name))
  await settle()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')!.resolve()
  await settle()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  for (const end of ends.values()) end.resolve()
  await Promise.all(all)
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})

test('a failure frees its place', async () => {
  const { run, begun, ends } = setup(1)
  const [failing, next] = [run('a'), run('b')]
  ends.get('a')!.reject(new Error('no'))
  await assert.rejects(failing, /no/)
  await settle()
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')!.resolve()
  await next
})

test('who stops waiting loses no place for the others', async () => {
  const { run, begun, ends } = setup(1)
  const controller = new AbortController()
  const [first, waiting, last] = [run('a'), run('b', controller.signal), run('c')]
  controller.abort(new Error('gone'))
  await assert.rejects(waiting, /gone/)
  ends.get('a')!.resolve()
  await first
  await settle()
  assert.deepEqual(begun, ['a', 'c'])
  ends.get('c')!.resolve()
  await last
})

test('what was cancelled before does not begin', async () => {
  const { run, begun } = setup(1)
  await assert.rejects(run('a', AbortSignal.abort(new Error('too late'))), /too late/)
  assert.deepEqual(begun, [])
})
