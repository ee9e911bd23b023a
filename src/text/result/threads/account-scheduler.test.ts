import assert from 'node:assert/strict'
import test from 'node:test'
import { AccountScheduler } from './account-scheduler.ts'

/** Queues work by account and number: `'a1 a2 b1'`. */
function queue(works: string): AccountScheduler<string> {
  const turns = new AccountScheduler<string>()
  for (const work of works.split(' ')) turns.add(work[0]!, work)
  return turns
}

test('accounts take turns, each with its oldest task first', () => {
  const turns = queue('a1 a2 a3 b1 b2 c1')
  const done = []
  for (let next = turns.take(); next; next = turns.take()) {
    done.push(next.work)
    turns.end(next.account)
  }
  assert.equal(done.join(' '), 'a1 b1 c1 a2 b2 a3')
})

test('an account has one running task at a time', () => {
  const turns = queue('a1 a2 b1')
  assert.deepEqual(turns.take(), { account: 'a', work: 'a1' })
  assert.deepEqual(turns.take(), { account: 'b', work: 'b1' })
  assert.equal(turns.isWaiting(), false)
  assert.equal(turns.take(), undefined)
  turns.end('a')
  assert.equal(turns.isWaiting(), true)
  assert.deepEqual(turns.take(), { account: 'a', work: 'a2' })
})

test('an account that arrives later runs before the next task of a running one', () => {
  const turns = queue('a1 a2')
  turns.take()
  turns.add('c', 'c1')
  turns.end('a')
  assert.equal(turns.take()?.work, 'c1')
})
