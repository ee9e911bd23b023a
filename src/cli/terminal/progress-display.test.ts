import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { createProgressDisplay, formatSeconds } from './progress-display.ts'
import type { Output } from './terminal.ts'

/** Creates an output that records what is written to it; with `columns` it is a terminal. */
function createScreen(columns?: number) {
  const output: Output & { text(): string } = Object.assign(new PassThrough(), {
    ...(columns === undefined ? {} : { isTTY: true, columns }),
    text: () => String((output as unknown as PassThrough).read() ?? ''),
  })
  return output
}

const ERASE = '\r\u001b[K'

test('on a terminal one line is overwritten, with percent and time left', () => {
  const screen = createScreen(80)
  const progress = createProgressDisplay(screen)
  progress.show('a.mp3', { stage: 'recognize', fraction: 0.431, secondsLeft: 12.4 })
  assert.equal(screen.text(), `${ERASE}a.mp3: recognize 43 %, about 12 s left`)
})

test('a detail is shown after the percentage', () => {
  const screen = createScreen(80)
  const detail = 'of 150 MB, 9.1 MB/s'
  createProgressDisplay(screen).show('base', {
    stage: 'fetching',
    fraction: 0.5,
    detail,
    secondsLeft: 8,
  })
  assert.equal(screen.text(), `${ERASE}base: fetching 50 % of 150 MB, 9.1 MB/s, about 8 s left`)
})

test('on a terminal the line shows how many further recordings are waiting', () => {
  const screen = createScreen(80)
  const progress = createProgressDisplay(screen)
  progress.show('a.mp3', { stage: 'decode' })
  progress.show('b.mp3', { stage: 'upload' })
  assert.ok(screen.text().endsWith('a.mp3: decode (and 1 more)'))
})

test('on a terminal the line is erased when its recording ends', () => {
  const screen = createScreen(80)
  const progress = createProgressDisplay(screen)
  progress.show('a.mp3', { stage: 'decode' })
  screen.text()
  progress.end('a.mp3')
  assert.equal(screen.text(), ERASE)
})

test('on a terminal messages are written above the progress line', () => {
  const screen = createScreen(80)
  const progress = createProgressDisplay(screen)
  progress.show('b.mp3', { stage: 'decode' })
  screen.text()
  progress.printLine('a.mp3: done')
  assert.equal(screen.text(), `${ERASE}a.mp3: done\n${ERASE}b.mp3: decode`)
})

test('on a terminal the line never exceeds a row', () => {
  const screen = createScreen(30)
  createProgressDisplay(screen).show('x'.repeat(100), { stage: 'decode' })
  assert.equal(screen.text().length, ERASE.length + 29)
})

test('in a narrow row the middle of the name is elided, not the stage', () => {
  const screen = createScreen(40)
  const step = { stage: 'transcribing', fraction: 0.43, secondsLeft: 65 }
  createProgressDisplay(screen).show('a-very-long-name-of-a-recording.mp3', step)
  assert.equal(screen.text(), `${ERASE}a-ve…mp3: transcribing 43 %, about 1 mi`)
})

test('in a log each stage is written once', () => {
  const screen = createScreen()
  const progress = createProgressDisplay(screen)
  progress.show('a.mp3', { stage: 'upload', fraction: 0 })
  progress.show('a.mp3', { stage: 'upload', fraction: 0.5 })
  progress.show('a.mp3', { stage: 'decode', fraction: null, secondsLeft: null })
  assert.equal(screen.text(), 'a.mp3: upload 0 %\na.mp3: decode\n')
})

test('in a log a long stage is reported again after ten seconds', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const screen = createScreen()
  const progress = createProgressDisplay(screen)
  progress.show('a.mp3', { stage: 'upload', fraction: 0 })
  now = 10_000
  progress.show('a.mp3', { stage: 'upload', fraction: 0.5 })
  assert.equal(screen.text(), 'a.mp3: upload 0 %\na.mp3: upload 50 %\n')
})

for (const columns of [undefined, 80]) {
  test(`control characters in a name are replaced ${columns ? 'on a terminal' : 'in logs'}`, () => {
    const screen = createScreen(columns)
    const progress = createProgressDisplay(screen)
    progress.show('a\n\u001b[31m.mp3', { stage: 'decode' })
    progress.printLine('b: \u001b[2J\nof two lines')
    const written = screen.text().replaceAll(ERASE, '')
    assert.match(written, /^a\?\?\[31m\.mp3: decode\n?b: \?\[2J\nof two lines\n/)
  })
}

test('durations are formatted in readable units', () => {
  const reported = [0, 0.2, 59.4, 125, 3780].map(formatSeconds)
  assert.deepEqual(reported, ['0 s', '1 s', '59 s', '2 min 5 s', '1 h 3 min'])
})
