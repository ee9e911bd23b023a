import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createListScheduler } from './list-scheduler.ts'

/** Starts twenty pages that never end; returns how many of them read the database. */
function countReading(query: {
  custom_metadata?: object
  cursor?: string
  offset?: number
  limit?: number
}): number {
  const turns = createListScheduler()
  let reading = 0
  const work = () => {
    reading++
    return new Promise<void>(() => {})
  }
  for (let i = 0; i < 20; i++) {
    void turns.page('a', { offset: 0, limit: 20, ...query } as never, work)
  }
  return reading
}

test('an account may read up to sixteen short pages at once', () => {
  assert.equal(countReading({}), 16)
  assert.equal(countReading({ offset: 10_000, limit: 50 }), 16)
  assert.equal(countReading({ offset: 1_000_000, cursor: 'c' }), 16, 'a cursor gives the place')
})

test('an account may read up to four long pages at once', () => {
  assert.equal(countReading({ limit: 51 }), 4)
})

test('expensive pages of an account are read one at a time', () => {
  assert.equal(countReading({ custom_metadata: { team: 'red' } }), 1)
  assert.equal(countReading({ offset: 10_001 }), 1)
})

test('jobs of pages are loaded four at a time, while a search is running', () => {
  const turns = createListScheduler()
  let reading = 0
  const work = async () => {
    reading++
    await new Promise(() => {})
  }
  void turns.page('a', { offset: 0, custom_metadata: {} } as never, work)
  for (let i = 0; i < 6; i++) void turns.load('a', work)
  assert.equal(reading, 5)
})
