import assert from 'node:assert/strict'
import test from 'node:test'
import { BufferSpace } from './buffer-space.ts'

function open() {
  const sent: string[] = []
  const state = { fill: 0 }
  const space = new BufferSpace({
    fill: () => state.fill,
    onFull: () => sent.push('full'),
    onSpace: () => sent.push('room'),
  })
  return { space, state, sent }
}

test('below the limit senders do not wait', () => {
  const { space, state, sent } = open()
  state.fill = 1
  assert.equal(space.wait(), undefined)
  assert.deepEqual(sent, [])
})

test('a waiting sender continues once a tenth is free', async () => {
  const { space, state, sent } = open()
  state.fill = 1.1
  const waiting = space.wait()
  void space.wait()
  state.fill = 0.95
  space.changed()
  assert.deepEqual(sent, ['full'])
  state.fill = 0.9
  space.changed()
  await waiting
  assert.deepEqual(sent, ['full', 'room'])
})

test('release() lets all waiting senders continue, once', async () => {
  const { space, state, sent } = open()
  state.fill = 2
  const waiting = space.wait()
  space.release()
  space.release()
  await waiting
  assert.deepEqual(sent, ['full', 'room'])
})
