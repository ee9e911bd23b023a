import assert from 'node:assert/strict'
import test from 'node:test'
import type { LiveMessage } from './live-api-types.ts'
import { createLatencyWatch, describeLatency, percentile } from './live-latency.ts'

/**
 * Sends a thousand bytes per second in chunks of 100 ms, on time, so that byte and moment are the
 * same number.
 */
function watchSecond(onsetOf?: (time: number) => number) {
  const watch = createLatencyWatch(1000, onsetOf && { onsetOf })
  for (let end = 100; end <= 3000; end += 100) watch.sent(end, end)
  return watch
}

function transcript(
  is_final: boolean,
  { text = ' one', start = 0.4, end = 1, channel = 0 } = {},
): LiveMessage {
  const utterance = { start, end, channel, text, confidence: 1, words: [], language: 'en' }
  return { type: 'transcript', data: { id: '00_00000000', is_final, utterance } }
}

const starts = (time: number, channel = 0): LiveMessage => {
  return { type: 'speech_start', data: { time, channel } }
}
const ends = (time: number, channel = 0): LiveMessage => {
  return { type: 'speech_end', data: { time, channel } }
}

test('the first partial is timed from the chunk with the start of speech', () => {
  const watch = watchSecond()
  watch.received(starts(0.45), 700)
  watch.received(transcript(false, { text: '' }), 750)
  watch.received(transcript(false), 900)
  watch.received(transcript(false), 1200)
  assert.deepEqual(watch.latencies.firstPartials, [400])
})

test('with a better estimate the first partial is timed from it', () => {
  const watch = watchSecond((time) => time + 0.2)
  watch.received(starts(0.4), 700)
  watch.received(transcript(false), 900)
  assert.deepEqual(watch.latencies.firstPartials, [300])
})

test('a final is timed from the end of speech, unless it split the speech earlier', () => {
  const watch = watchSecond()
  watch.received(starts(0.4), 700)
  watch.received(transcript(true, { end: 1.2 }), 1300)
  watch.received(ends(2.75), 2900)
  watch.received(transcript(true, { end: 1.7 }), 2950)
  watch.received(transcript(true, { end: 2.7 }), 3000)
  watch.received(transcript(true, { end: 2.7 }), 3100)
  assert.deepEqual(watch.latencies.finals, [200])
})

test('a final that arrives after the next speech started is timed too', () => {
  const watch = watchSecond()
  watch.received(starts(0.2), 300)
  watch.received(ends(0.5), 700)
  watch.received(starts(0.9), 1000)
  // The first speech had no text.
  watch.received(ends(1.2), 1300)
  watch.received(starts(1.5), 1600)
  watch.received(transcript(true, { start: 0.8, end: 1.2 }), 1900)
  watch.received(transcript(false), 2000)
  assert.deepEqual(watch.latencies, { acks: [], firstPartials: [500], finals: [700] })
})

test('latencies of channels are measured separately', () => {
  const watch = watchSecond()
  watch.received(starts(0.5), 700)
  watch.received(starts(1, 1), 1200)
  watch.received(transcript(false, { channel: 1 }), 1500)
  watch.received(ends(1), 1600)
  watch.received(transcript(true), 1700)
  assert.deepEqual(watch.latencies.firstPartials, [500])
  assert.deepEqual(watch.latencies.finals, [700])
})

test('an ack is timed for each chunk that it covers, a refusal for none', () => {
  const watch = watchSecond()
  const ack = (end: number, acknowledged = true): LiveMessage => {
    const data = acknowledged ? { byte_range: [0, end] as [number, number] } : null
    return { type: 'audio_chunk', acknowledged, data, error: null }
  }
  watch.received(ack(100), 130)
  watch.received(ack(0, false), 140)
  watch.received(ack(300), 350)
  assert.deepEqual(watch.latencies.acks, [30, 150, 50])
})

test('percentiles are measured values', () => {
  assert.deepEqual([percentile([3, 1, 2], 0.5), percentile([3, 1, 2], 0.95)], [2, 3])
  assert.equal(percentile([], 0.5), undefined)
  assert.equal(describeLatency([20.4, 10], [0.5, 0.99]), 'p50 20 ms, p99 20 ms (2)')
  assert.equal(describeLatency([], [0.5]), undefined)
})
