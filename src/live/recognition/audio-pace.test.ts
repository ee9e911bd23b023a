import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AudioPace } from './audio-pace.ts'

/**
 * Processes chunks of `chunk` seconds, one every `every` seconds; returns after which it is fast.
 */
function fastAfter(chunk: number, every: number, chunks: number): boolean[] {
  let ms = 0
  const pace = new AudioPace({ maxLead: 2, now: () => ms })
  return Array.from({ length: chunks }, () => {
    pace.processed(chunk)
    ms += every * 1000
    return pace.isFast
  })
}

test('audio in real time is not fast, however long it is and however large its chunks are', () => {
  assert.ok(!fastAfter(0.1, 0.1, 40_000).includes(true))
  assert.ok(!fastAfter(1.9, 1.9, 2000).includes(true))
  assert.ok(!fastAfter(0.1, 0.0999, 40_000).includes(true))
})

test('audio at four times real time is fast once it is two seconds ahead of the clock', () => {
  const fast = fastAfter(0.1, 0.025, 100)
  assert.equal(fast.indexOf(true), 27)
  assert.ok(!fast.slice(27).includes(false))
})

test('a session that slows down is soon in time', () => {
  let ms = 0
  const pace = new AudioPace({ maxLead: 2, now: () => ms })
  pace.processed(3600)
  assert.ok(pace.isFast)
  ms += 1800
  assert.ok(pace.isFast)
  ms += 100
  assert.ok(!pace.isFast)
})
