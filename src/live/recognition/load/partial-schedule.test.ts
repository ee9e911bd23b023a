import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PartialSchedule } from './partial-schedule.ts'

const long = { frames: 8 }

test('a partial needs eight frames of an utterance', () => {
  const schedule = new PartialSchedule(500)
  assert.equal(schedule.isDue(0, { frames: 7 }), false)
  assert.equal(schedule.isDue(0, long), true)
})

test('the next partial waits three times as long as the last one took', () => {
  const schedule = new PartialSchedule(500)
  schedule.recognized({ startedAt: 100, now: 300 })
  assert.equal(schedule.isDue(699, long), false)
  assert.equal(schedule.isDue(700, long), true)
})

test('after words the next partial waits for the interval, which grows with the load', () => {
  const schedule = new PartialSchedule(500)
  schedule.recognized({ startedAt: 0, now: 10 })
  schedule.foundWords(10, { load: 0 })
  assert.deepEqual([schedule.isDue(509, long), schedule.isDue(510, long)], [false, true])
  schedule.foundWords(1000, { load: 1 })
  assert.deepEqual([schedule.isDue(2999, long), schedule.isDue(3000, long)], [false, true])
})

test('the first partial of an utterance waits for the shortest interval only', () => {
  const schedule = new PartialSchedule(500)
  schedule.recognized({ startedAt: 0, now: 1000 })
  schedule.foundWords(1000, { load: 1 })
  schedule.utteranceEnded()
  assert.equal(schedule.isDue(1000, long), true, 'none was sent')
  schedule.sent(1200)
  schedule.foundWords(1200, { load: 1 })
  schedule.utteranceEnded()
  assert.deepEqual([schedule.isDue(1699, long), schedule.isDue(1700, long)], [false, true])
})

test('the next partial waits for the interval after one that was sent late', () => {
  const schedule = new PartialSchedule(500)
  schedule.foundWords(10, { load: 0 })
  schedule.sent(400)
  assert.deepEqual([schedule.isDue(899, long), schedule.isDue(900, long)], [false, true])
})
