import assert from 'node:assert/strict'
import test from 'node:test'
import type { JobProgress } from '../../storage/jobs/queue/job-state.ts'
import { createProgress } from './progress.ts'

/** Records what is reported when the clock is moved by hand. */
function record() {
  const reported: JobProgress[] = []
  const clock = { ms: 0 }
  const progress = createProgress(
    (step) => reported.push(step),
    () => clock.ms,
  )
  return { reported, clock, progress }
}

test('a stage is reported at once, its overall fraction once a second', () => {
  const { reported, clock, progress } = record()
  progress.enter('decode')
  progress.advance(0.1)
  clock.ms = 1000
  progress.advance(0.5)
  progress.enter('detect speech')
  assert.deepEqual(
    reported.map(({ stage, fraction }) => `${stage} ${fraction.toFixed(3)}`),
    ['decode 0.050', 'decode 0.100', 'detect speech 0.150'],
  )
})

test('the remaining time depends only on the recognition rate', () => {
  const { reported, clock, progress } = record()
  progress.enter('decode')
  clock.ms = 50_000
  progress.advance(0.5)
  progress.enter('recognize')
  clock.ms = 60_000
  progress.advance(0.25)
  assert.deepEqual(
    reported.map(({ secondsLeft }) => secondsLeft),
    [null, null, null, 30],
  )
})

test('work of an earlier attempt does not count for the rate', () => {
  const { reported, clock, progress } = record()
  progress.enter('recognize', 0.5)
  clock.ms = 10_000
  progress.advance(0.75)
  assert.equal(reported.at(-1)?.secondsLeft, 10)
  assert.equal(reported[0]?.fraction, 0.575)
})

test('too little progress yields no remaining time', () => {
  const { reported, clock, progress } = record()
  progress.enter('recognize')
  clock.ms = 1000
  progress.advance(0.01)
  assert.equal(reported.at(-1)?.secondsLeft, null)
})
