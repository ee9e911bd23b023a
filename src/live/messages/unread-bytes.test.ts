import assert from 'node:assert/strict'
import test from 'node:test'
import { UnreadBytes } from './unread-bytes.ts'

const limits = { perSession: 10, perAccount: 25, perProcess: 60 }

test('a session is over the limit with more than its own bytes', () => {
  const unread = new UnreadBytes(limits)
  const [one, other] = [unread.open('a'), unread.open('a')]
  one.add(10)
  assert.ok(!one.isOver())
  one.add(1)
  assert.deepEqual([one.isOver(), other.isOver()], [true, false])
  one.add(-1)
  assert.ok(!one.isOver())
})

test('all sessions of an account are over the limit together', () => {
  const unread = new UnreadBytes(limits)
  const many = [1, 2, 3].map(() => unread.open('a'))
  const other = unread.open('b')
  for (const session of many) session.add(9)
  other.add(9)
  assert.deepEqual(
    [...many, other].map((session) => session.isOver()),
    [true, true, true, false],
  )
  many[0]!.close()
  assert.ok(!many[1]!.isOver())
})

test('over the process limit only accounts above their share are over', () => {
  const unread = new UnreadBytes({ perSession: 100, perAccount: 100, perProcess: 60 })
  const [large, small] = [unread.open('a'), unread.open('b')]
  large.add(51)
  small.add(10)
  assert.deepEqual([large.isOver(), small.isOver()], [true, false])
})
