import assert from 'node:assert/strict'
import test from 'node:test'
import { initialEndpointerState, type UtteranceSpan } from './endpointer.ts'
import { segmentsOf } from './utterance-segments.ts'

/** Returns the segments recognized for frames 20 to 30 once `recognized` frames have arrived. */
function segmentsWith({
  after = 0,
  recognized = 199,
  isCut = false,
  ...span
}: Partial<UtteranceSpan> & { after?: number; recognized?: number; isCut?: boolean }) {
  const state = { ...initialEndpointerState(), frame: recognized, from: isCut ? 30 : null }
  return segmentsOf({ number: 1, from: 20, to: 30, ...span }, { state, after })
}

test('the audio of an utterance is padded at its start, but not into the previous', () => {
  const segment = { start: 20 * 512 - 4800, end: 34 * 512 }
  assert.deepEqual(segmentsWith({}), { segment, context: segment, isAfterPause: true })
  assert.equal(segmentsWith({ after: 10_000 }).segment.start, 10_000)
  assert.equal(segmentsWith({ from: 2 }).segment.start, 0)
})

test('audio that is not processed yet is not recognized', () => {
  assert.equal(segmentsWith({ recognized: 31 }).segment.end, 31 * 512)
})

test('an utterance without adjacent pauses is recognized with context', () => {
  const after = segmentsWith({ after: 75 * 512, from: 75, to: 90 })
  assert.deepEqual([after.segment.start, after.context.start], [75 * 512, 75 * 512 - 32_000])
  assert.equal(after.isAfterPause, undefined)
  const cut = segmentsWith({ recognized: 40, isCut: true })
  assert.deepEqual([cut.segment.end, cut.context.end], [30 * 512, 40 * 512])
})

test('an utterance after a short pause has context, unless it is a fragment', () => {
  const long = { after: 70 * 512, from: 75, to: 75 + 38 }
  assert.equal(segmentsWith(long).context.start, 70 * 512 - 32_000)
  const fragment = segmentsWith({ ...long, to: 75 + 37 })
  assert.equal(fragment.context.start, fragment.segment.start)
  const digits = segmentsWith({ ...long, pauses: [{ start: 90, end: 100 }] })
  assert.equal(digits.context.start, digits.segment.start)
  assert.deepEqual(digits.segment.pauses, [{ start: 90 * 512 + 1600, end: 100 * 512 - 800 }])
})
