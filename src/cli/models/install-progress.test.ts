import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProgressDisplay, ProgressStep } from '../terminal/progress-display.ts'
import { inMegabytes, showInstallation } from './install-progress.ts'

test('the download shows its fraction, speed and remaining time', (t) => {
  t.mock.method(performance, 'now', () => now)
  let now = 0
  const shown: ProgressStep[] = []
  const progress: ProgressDisplay = {
    show: (_, step) => void shown.push(step),
    end() {},
    printLine() {},
    clear() {},
  }
  const show = showInstallation('base', progress)
  const total = 100e6
  for (; now <= 4000; now += 50) show({ stage: 'fetching', bytes: (now / 1000) * 10e6, total })
  assert.ok(shown.length <= 41, 'not every piece is drawn')
  assert.deepEqual(shown.at(-1), {
    stage: 'fetching',
    fraction: 0.4,
    detail: 'of 100 MB, 10.0 MB/s',
    secondsLeft: 6,
  })
  show({ stage: 'fetching', bytes: 0, total })
  assert.deepEqual(shown.at(-1), {
    stage: 'fetching',
    fraction: 0,
    detail: 'of 100 MB',
    secondsLeft: null,
  })
  show({ stage: 'converting', fraction: 0.5 })
  show({ stage: 'waiting' })
  assert.deepEqual(shown.slice(-2), [
    { stage: 'converting', fraction: 0.5 },
    { stage: 'waiting for another process' },
  ])
})

test('sizes are shown with two or three digits', () => {
  assert.deepEqual([0, 6_100_000, 149_700_000, 3.1e9].map(inMegabytes), [
    '0.0 MB',
    '6.1 MB',
    '150 MB',
    '3.1 GB',
  ])
})
