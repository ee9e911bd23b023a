import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alignByAttention } from './attention-alignment.ts'

/** Rows of one head from a drawing: `#` is where a token attends. */
function rowsOf(...drawing: string[]): Float32Array[] {
  return drawing.map((line) => Float32Array.from(line, (c) => (c === '#' ? 1 : 0.01)))
}

test('tokens start where their attention starts', () => {
  const rows = rowsOf('###.......', '...###....', '......####')
  assert.deepEqual(alignByAttention(rows, { heads: 1, frames: 10 }), [0, 3, 6])
})

test('stray attention of another head does not move a token', () => {
  const sure = rowsOf('####........', '....####....', '........####')
  const stray = rowsOf('####........', '....####...#', '........####')
  const rows = sure.map((row, i) => Float32Array.from([...row, ...stray[i]!]))
  assert.deepEqual(alignByAttention(rows, { heads: 2, frames: 12 }), [0, 4, 8])
})

test('starts ascend and stay in the audio for any attention', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 30 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (tokens, frames, noise) => {
        const rows = Array.from({ length: tokens }, () =>
          Float32Array.from({ length: frames }, () => noise.next().value as number),
        )
        const starts = alignByAttention(rows, { heads: 1, frames })
        assert.equal(starts.length, tokens)
        assert.equal(starts[0], 0)
        for (const [i, start] of starts.entries()) {
          assert.ok(start >= (starts[i - 1] ?? 0) && start < frames)
        }
      },
    ),
  )
})
