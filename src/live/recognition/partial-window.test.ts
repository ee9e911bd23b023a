import assert from 'node:assert/strict'
import test from 'node:test'
import { open } from '../../../test/support/live/sessions/test-recognition-loop.ts'
import { settleWords, windowOf } from './partial-window.ts'

const RATE = 16_000
/** Frames of a second. */
const SECOND = 31.25

const words = Array.from({ length: 12 }, (_, i) => {
  return { text: `${i}`, start: i, end: i + 1, confidence: 1 }
})
const window = { start: 0, end: 12 * RATE }

function pauseAt(from: number, to: number) {
  return { start: Math.round(from * SECOND), end: Math.round(to * SECOND) }
}

test('words before the last pause of a long partial are settled', () => {
  const pauses = [pauseAt(3, 3.5), pauseAt(8, 9), pauseAt(11, 11.5)]
  const settled = settleWords(words, { window, pauses, before: undefined })
  assert.equal(settled?.words.at(-1)?.text, '8')
  assert.ok(Math.abs(settled.end / RATE - 8.7) < 0.02)
  assert.deepEqual(windowOf({ start: 0, end: 30 * RATE }, settled), {
    start: settled.end,
    end: settled.end + 15 * RATE,
  })
})

test('without a pause, words some seconds ago are settled, after those that are', () => {
  const before = { words: [{ text: 'earlier', start: -1, end: 0, confidence: 1 }], end: 0 }
  const settled = settleWords(words, { window, before })
  assert.deepEqual(
    settled?.words.map(({ text }) => text),
    ['earlier', '0', '1', '2', '3', '4', '5', '6', '7'],
  )
  assert.equal(settled?.end, 7.85 * RATE)
  assert.equal(settleWords([], { window, before })?.end, 7.85 * RATE)
})

test('a short partial settles nothing', () => {
  const short = { start: 0, end: 11 * RATE }
  assert.equal(settleWords(words, { window: short, before: undefined }), undefined)
})

test('partials of a long utterance go on to its end, and keep its first words', async (t) => {
  // By this clock partials take no time, so each is due at once.
  t.mock.method(performance, 'now', () => 0)
  const windows: { start: number; end: number }[] = []
  const spoken = [6, 9, 7, 14, 4].map((seconds) => '#'.repeat(seconds * SECOND))
  const pause = '.'.repeat(SECOND)
  const { advance, partialViews } = open([`${spoken.join(pause)}${pause.repeat(4)}`], {
    partials: true,
    endpointing: { endpointing: 2, maxSeconds: 60 },
    before: (kind, segment) => {
      if (kind === 'partial') windows.push(segment!)
    },
  })
  const reported = await advance()
  const lengths = windows.map(({ start, end }) => (end - start) / RATE)
  assert.ok(Math.max(...lengths) <= 15, `a partial of ${Math.max(...lengths)} s`)
  const last = reported.findLast((line) => line.startsWith('partial'))!
  const parts = last.split(' ').slice(3)
  assert.ok(parts.length > 2, last)
  // The text of a part is the frame at which it ends.
  assert.ok(Number(parts.at(-1)) > 43 * SECOND, last)
  for (const { words } of partialViews) {
    for (const [i, { start }] of words.slice(1).entries()) {
      assert.ok(start >= words[i]!.end, `a word at ${start} s begins before ${words[i]!.end} s`)
    }
  }
})

test('a partial after a cut begins where the previous final ended', async () => {
  const windows: { start: number; end: number }[] = []
  const { advance, partialViews, views } = open(['#'.repeat(9 * SECOND)], {
    partials: true,
    words: [{ text: 'word', start: 0, end: 5.2 }],
    before: (kind, segment) => {
      if (kind === 'partial') windows.push(segment!)
    },
  })
  await advance()
  assert.equal(views[0]!.end, 5.2)
  const later = partialViews.filter(({ end }) => end > 6)
  assert.ok(later.length > 0)
  assert.ok(later.every(({ start }) => start >= 5.2))
  assert.equal(windows.at(-1)!.start, 5.15 * RATE)
})
