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

test('real-time audio is not fast, whatever its length and chunk size', () => {
  assert.ok(!fastAfter(0.1, 0.1, 40_000).includes(true))
  assert.ok(!fastAfter(1.9, 1.9, 2000).includes(true))
  assert.ok(!fastAfter(0.1, 0.0999, 40_000).includes(true))
})

test('audio at four times real time is fast once it leads by two seconds', () => {
  const fast = fastAfter(0.1, 0.025, 100)
  assert.equal(fast.indexOf(true), 27)
  assert.ok(!fast.slice(27).includes(false))
})

test('a fast session that slows down soon counts as real time', () => {
  let ms = 0
  const pace = new AudioPace({ maxLead: 2, now: () => ms })
  pace.processed(3600)
  assert.ok(pace.isFast)
  ms += 1800
  assert.ok(pace.isFast)
  ms += 100
  assert.ok(!pace.isFast)
})
