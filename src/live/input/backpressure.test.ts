import assert from 'node:assert/strict'
import test from 'node:test'
import { BufferSpace } from './backpressure.ts'

function open() {
  const told: string[] = []
  const state = { fill: 0 }
  const room = new BufferSpace({
    fill: () => state.fill,
    onFull: () => told.push('full'),
    onRoom: () => told.push('room'),
  })
  return { room, state, told }
}

test('while there is room nobody waits', () => {
  const { room, state, told } = open()
  state.fill = 1
  assert.equal(room.wait(), undefined)
  assert.deepEqual(told, [])
})

test('who waits is let in when a tenth is free, not before', async () => {
  const { room, state, told } = open()
  state.fill = 1.1
  const waiting = room.wait()
  void room.wait()
  state.fill = 0.95
  room.changed()
  assert.deepEqual(told, ['full'])
  state.fill = 0.9
  room.changed()
  await waiting
  assert.deepEqual(told, ['full', 'room'])
})

test('a release lets in whoever waits, once', async () => {
  const { room, state, told } = open()
  state.fill = 2
  const waiting = room.wait()
  room.release()
  room.release()
  await waiting
  assert.deepEqual(told, ['full', 'room'])
})
